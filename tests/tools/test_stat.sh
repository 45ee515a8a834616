#!/bin/sh
# SPDX-License-Identifier: MIT
# test_stat.sh - weft stat and weft top: their forms, their clients, their terminal
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-pthread.so ]; then
	echo "test_stat.sh: skipped, there is no $weft with its library here"
	exit 0
fi

passes "no process" status_is 125 "$weft" stat
passes "two" status_is 125 "$weft" stat 1 2
passes "no number" status_is 125 "$weft" stat x
passes "no time" status_is 125 "$weft" stat --every=0 1
passes "no count" status_is 125 "$weft" stat --every=1 --count=0 1
passes "a count alone" status_is 125 "$weft" stat --count=2 1
passes "and what it needs" says 'count needs --every'
passes "a count of pictures alone" status_is 125 "$weft" top --count=2 1
passes "no port" status_is 125 "$weft" stat --listen=65536 1
passes "top of two" status_is 125 "$weft" top 1 2
passes "not of weft" status_is 1 "$weft" stat $$
passes "and it says so" says 'it has no threads of weft'
passes "top not of weft" status_is 1 "$weft" top -b $$
passes "none there" status_is 1 "$weft" stat 4194305
passes "and why" says '4194305: there is no such process$'

# What an older weft does: each request is for a dump, in the descriptor of 32 bits.
cat >"$work/old.c" <<'EOF'
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
static void asked(int signal, siginfo_t *info, void *unused)
{
	uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
	char path[64];
	int fd;
	(void)signal, (void)unused;
	if (info->si_code != SI_QUEUE || value >> 32 != 0x77656674u)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/%u", info->si_pid, (uint32_t)value);
	fd = open(path, O_RDWR | O_NONBLOCK);
	if (fd < 0)
		return;
	(void)!write(fd, "weft: asked by another process\n", 31);
	close(fd);
}
int main(void)
{
	struct sigaction act;
	memset(&act, 0, sizeof(act));
	act.sa_sigaction = asked;
	act.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGURG, &act, NULL);
	prctl(PR_SET_NAME, "weft-monitor");
	(void)!write(1, "x", 1);
	while (read(0, &(char){ 0 }, 1) < 0)
		;
	return 0;
}
EOF
mkfifo "$work/old_in" "$work/in"
if ${CC-cc} -o "$work/old" "$work/old.c" 2>/dev/null; then
	"$work/old" <"$work/old_in" >"$work/there" &
	exec 3>"$work/old_in"
	until [ -s "$work/there" ]; do
		sleep 0.02
	done
	passes "an older weft" status_is 1 "$weft" stat $!
	passes "is told of" says 'its weft is of another version'
	passes "in one line" test "$(wc -l <"$work/said")" = 1
	passes "and gives its dump" status_is 0 "$weft" dump $!
	exec 3>&-
	wait $!
fi

# A process that has ended, but is a zombie still: rows and the server end with it.
cat >"$work/zombie.py" <<'EOF'
import subprocess, sys
weft, program = sys.argv[1:]
p = subprocess.Popen([weft, 'run', program], stdin=subprocess.PIPE)
while subprocess.run([weft, 'stat', str(p.pid)], stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL).returncode:
    assert p.poll() is None
rows = subprocess.Popen([weft, 'stat', '--every=0.05', str(p.pid)], stdout=subprocess.PIPE)
server = subprocess.Popen([weft, 'stat', '--listen=0', str(p.pid)], stdout=subprocess.PIPE)
rows.stdout.readline()
server.stdout.readline()
p.kill()
rows.stdout.read()
assert server.wait() == 0 and rows.wait() <= 1
assert p.poll() == -9
EOF
cat >"$work/waits.c" <<'EOF'
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int ends;
static void *lock(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}
static void *compute(void *unused)
{
	while (!ends)
		;
	return unused;
}
int main(void)
{
	pthread_t thread[4];
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, lock, NULL);
	pthread_create(&thread[3], NULL, compute, NULL);
	pthread_setname_np(thread[3], "computes");
	while (read(0, &(char){ 0 }, 1) < 0)
		;
	ends = 1;
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	return 7;
}
EOF
if ! ${CC-cc} -o "$work/waits" "$work/waits.c" -pthread 2>/dev/null ||
    ! has_green "$work/waits"; then
	echo "test_stat.sh: without a compiler, or green threads, there is no more"
	finish
fi
"$weft" run -n 2 "$work/waits" <"$work/in" 2>"$work/stderr" &
pid=$!
exec 4>"$work/in"
until "$weft" stat "$pid" 2>/dev/null | grep -q 'mutex 3'; do
	kill -0 "$pid" || break
	sleep 0.02
done
passes "text" status_is 0 "$weft" stat "$pid"
passes "of what is parked" says '^  parked .* mutex 3'
passes "of each VCPU" says '^VCPU 1: busy [0-9.]* %, switches [0-9]*, '
passes "rows" status_is 0 "$weft" stat --every=0.05 --count=3 "$pid"
passes "below a head" test "$(wc -l <"$work/said")" = 4
passes "a dump by a word" status_is 0 "$weft" dump "$pid"
passes "with a lock's owner" says 'waits for mutex 0x[0-9a-f]*, owned by .*id [0-9]'

passes "a picture" status_is 0 "$weft" top --batch --count=2 --every=0.3 "$pid"
passes "of VCPUs" says '^VCPU 0   \['
passes "of a thread that runs" says '^ *[0-9.]*  running .*"computes" (id [0-9]*)$'
passes "of a lock, and its owner" \
	says '^ *3  *[0-9.]*  mutex  *0x[0-9a-f]*  *.*id [0-9]*)*$'
passes "two of them" test "$(grep -c '^WAITING' "$work/said")" = 2
! command -v python3 >/dev/null ||
	passes "a process whose parent has not waited" python3 "$work/zombie.py" "$weft" \
		"$work/waits"
passes "no terminal" status_is 125 "$weft" top "$pid"

passes "for Prometheus" status_is 0 "$weft" stat --prometheus "$pid"
passes "with a count" says '^weft_switches_total [0-9][0-9]*$'
passes "with a kind" says '^weft_threads_parked{kind="mutex"} 3$'
cp "$work/said" "$work/metrics"
passes "JSON" status_is 0 "$weft" stat --json --every=0.05 --count=2 "$pid"
cp "$work/said" "$work/json"

# Read by what is not ours.
cat >"$work/read.py" <<'EOF'
import sys
from prometheus_client.parser import text_string_to_metric_families as families
found = {}
for family in families(open(sys.argv[1]).read()):
    assert family.documentation and family.type in ('counter', 'gauge'), family
    for sample in family.samples:
        found[sample.name, tuple(sample.labels.values())] = sample.value
assert found['weft_vcpus', ()] == 2
assert found['weft_threads_parked', ('mutex',)] == 3
assert found['weft_switches_total', ()] > 0
assert 0 <= found['weft_vcpu_busy_seconds_total', ('1',)] < 1e6
EOF
cat >"$work/rows.py" <<'EOF'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert len(rows) == 2 and rows[0]['time_ns'] < rows[1]['time_ns']
for row in rows:
    assert row['vcpus'] == len(row['vcpu']) == 2 and row['parked']['mutex'] == 3
    assert all(0 <= vcpu['busy'] <= 1 for vcpu in row['vcpu'])
EOF
# The clients of --listen, good and bad ones.
cat >"$work/clients.py" <<'EOF'
import socket, sys
port = int(sys.argv[1])

def connect():
    return socket.create_connection(('127.0.0.1', port), timeout=60)

def rest(s):
    text = b''
    try:
        while True:
            more = s.recv(65536)
            if not more:
                return text
            text += more
    except ConnectionError:
        return text

def ask(request):
    with connect() as s:
        s.sendall(request)
        return rest(s)

def good():
    head, body = ask(b'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n').split(b'\r\n\r\n', 1)
    lines = head.split(b'\r\n')
    assert lines[0] == b'HTTP/1.0 200 OK', head
    assert b'Content-Length: %d' % len(body) in lines, head
    assert b'\nweft_threads_parked{kind="mutex"} 3\n' in body, body

def is_status(status, request):
    answer = ask(request)
    assert answer.startswith(b'HTTP/1.0 %d ' % status), (request[:40], answer)
    return answer

good()
assert is_status(200, b'HEAD /metrics HTTP/1.0\n\n').endswith(b'\r\n\r\n')
is_status(404, b'GET / HTTP/1.0\r\n\r\n')
is_status(404, b'GET /metrics/more HTTP/1.0\r\n\r\n')
is_status(405, b'POST /metrics HTTP/1.0\r\n\r\n')
is_status(400, b'hello\r\n\r\n')
is_status(400, b'GET /metrics\r\n\r\n')
is_status(400, b'GET /metrics GOPHER/1.0\r\n\r\n')
is_status(400, b'GET /metrics HTTP/1.0\0\r\n\r\n')
is_status(400, b'\xff\xfe\x80\r\n\r\n')
is_status(431, b'GET /metrics HTTP/1.0\r\n' + b'x' * 2025)
ask(b'x' * 100000)                      # may get an error, or be reset
good()
# A request in pieces.
with connect() as s:
    for byte in b'GET /metrics HTTP/1.0\r\n\r\n':
        s.sendall(bytes([byte]))
    assert rest(s).startswith(b'HTTP/1.0 200')
# Clients that say nothing, as many as there is room for but one, and those that go away.
silent = [connect() for i in range(15)]
good()
for s in silent:
    s.sendall(b'GET /met')
good()
for s in silent:
    s.close()
for i in range(50):
    with connect() as s:
        s.sendall(b'GET /metrics HTTP/1.0\r\n\r\n')
good()
# More than there is room for: the others wait until these are let go.
silent = [connect() for i in range(20)]
good()
EOF
# The terminal: a key ends it, and so does any signal to either process.
cat >"$work/terminal.py" <<'EOF'
import os, pty, signal, subprocess, sys, termios, fcntl, struct, select, time
weft, pid = sys.argv[1:]

def children(of):
    found = []
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            stat = open('/proc/%s/stat' % name).read().rsplit(')', 1)[1].split()
        except OSError:
            continue
        if int(stat[1]) == of:
            found.append(int(name))
    return found

class Terminal:
    def __init__(self, which=None):
        self.which, self.limit = which, time.monotonic() + 100
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 120, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.text = b''
        # A shell leads the session, and stays until the terminal has been looked at.
        self.shell = subprocess.Popen(['sh', '-c', '"$@"; s=$?; echo ENDED; read x; exit $s', 'sh',
            weft, 'top', '--every=0.1', pid],
            stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
            env=dict(os.environ, TERM='xterm'),
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.await_text(b'WAITING')
        assert termios.tcgetattr(self.slave) != self.before
        self.top = children(self.shell.pid)[0]

    def await_text(self, text):
        while text not in self.text:
            assert b'ENDED' not in self.text, (text, self.text)
            self.read()

    def read(self):
        assert time.monotonic() < self.limit, (self.which, self.text)
        if select.select([self.master], [], [], 0.1)[0]:
            self.text += os.read(self.master, 65536)

    def key(self, key):
        os.write(self.master, key)

    def ended(self):
        while (termios.tcgetattr(self.slave) != self.before or
               b'\x1b[?1049l' not in self.text):
            self.read()
        self.key(b'\n')
        while self.shell.poll() is None:
            self.read()
        return self.shell.returncode

t = Terminal()
t.key(b's')
t.await_text(b'most')          # only what has changed is drawn
t.key(b'p')
t.await_text(b'go on')
t.key(b'p')
t.key(b'q')
assert t.ended() == 0
for which in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL:
    t = Terminal(('top', which))
    os.kill(t.top, which)
    assert t.ended() > 0
    t = Terminal(('its child', which))
    os.kill(children(t.top)[0], which)
    assert t.ended() > 0
EOF
if ! command -v python3 >/dev/null; then
	echo "test_stat.sh: the clients are left out, there is no python3"
else
	passes "JSON that Python reads" python3 "$work/rows.py" "$work/json"
	reader=
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import prometheus_client' 2>/dev/null && reader=$python
	done
	if [ -n "$reader" ]; then
		passes "metrics that Prometheus reads" "$reader" "$work/read.py" "$work/metrics"
		sed 's/mutex"} 3/mutex} 3/' "$work/metrics" >"$work/bent"
		passes "not those with a fault" refuses "$reader" "$work/read.py" "$work/bent"
	else
		echo "test_stat.sh: no reader of metrics (python3-prometheus-client)"
	fi
	"$weft" stat --listen=0 "$pid" >"$work/port" 2>"$work/listens" 4>&- &
	listener=$!
	until [ -s "$work/port" ]; do
		kill -0 "$listener" || break
		sleep 0.02
	done
	port=$(sed 's,.*:\([0-9]*\)/metrics,\1,' "$work/port")
	passes "clients" python3 "$work/clients.py" "$port"
	passes "a port in use" status_is 125 "$weft" stat --listen="$port" "$pid"
	passes "says so" says 'Address already in use'
	if "$weft" top "$pid" 2>&1 </dev/null | grep -q 'without ncurses'; then
		echo "test_stat.sh: the screen is left out, there is no ncurses"
	else
		passes "the screen" python3 "$work/terminal.py" "$weft" "$pid"
	fi
fi
"$weft" stat --every=0.05 "$pid" >"$work/rows" 2>&1 4>&- &
rows=$!
until [ -s "$work/rows" ]; do
	sleep 0.02
done
exec 4>&-
wait "$pid"
passes "the program ends as it would" test $? = 7
passes "and says nothing" test ! -s "$work/stderr"
wait "$rows"
if [ -n "${listener-}" ]; then
	wait "$listener"
	passes "the listener ends with it" test $? -le 1
fi
finish
