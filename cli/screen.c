/* SPDX-License-Identifier: MIT */
/*
 * cli/screen.c - the pictures of weft top in a terminal
 *
 * A child process draws, by ncurses. A signal ends it at once, and its parent gives the
 * terminal back. If the parent is killed, the child gets SIGUSR1, and does so itself. So one
 * of the two is there, whichever signal ends the other. The handlers of ncurses, which end
 * the process in the middle of what it does, are not kept.
 */
#include <argp.h>
#include <stdio.h>

#include "cli.h"
#include "figures.h"

#if WEFT_HAS_CURSES

#include <curses.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <term.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t child;
static volatile sig_atomic_t is_alone;	/* the parent has ended */

static void note_end_of_parent(int signal)
{
	(void)signal;
	is_alone = 1;
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The lines of a text that fit. */
static void show(const char *text)
{
	erase();
	for (int row = 0; *text && row < LINES - 1; row++) {
		const int length = (int)strcspn(text, "\n");

		mvaddnstr(row, 0, text, length < COLS ? length : COLS);
		text += length + (text[length] == '\n');
	}
}

static void show_keys(const struct weft_screen *s, int stopped)
{
	attron(A_REVERSE);
	mvprintw(LINES - 1, 0, "q: quit  s: %s  p: %s",
		 s->by_longest ? "most waiting first" : "longest wait first",
		 stopped ? "go on" : "stop");
	attroff(A_REVERSE);
	refresh();
}

static void draw(const struct weft_screen *s, const struct weft_figures *now,
		 const struct weft_figures *before, int stopped)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return;
	weft_cli_picture(to, s, now, before);
	fclose(to);
	show(text);
	show_keys(s, stopped);
	free(text);
}

/* Waits until a key is there, until then, or until the parent has ended. */
static void await_key(struct pollfd *keys, double until)
{
	const double left = until - seconds_now();
	const struct timespec time = { left > 0 ? (time_t)left : 0,
		left > 0 ? (long)((left - (double)(time_t)left) * 1e9) : 0 };
	sigset_t end_of_parent, before;

	sigemptyset(&end_of_parent);
	sigaddset(&end_of_parent, SIGUSR1);
	sigprocmask(SIG_BLOCK, &end_of_parent, &before);
	if (!is_alone)
		(void)ppoll(keys, 1, &time, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Waits for a key until then. Returns 1 if a key changed something, -1 to end. */
static int obey(struct weft_screen *s, int *stopped, double until)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };

	await_key(&keys, until);
	if (is_alone || keys.revents & (POLLHUP | POLLERR | POLLNVAL))
		return -1;	/* the parent, or the terminal, has gone */
	switch (getch()) {
	case 'q':
		return -1;
	case 's':
		s->by_longest = !s->by_longest;
		return 1;
	case 'p':
		*stopped = !*stopped;
		return 1;
	case KEY_RESIZE:
		return 1;
	default:
		return 0;
	}
}

/* Returns 0 when the user ends it, or 1: there is no answer. */
static int draw_all(struct weft_screen *s)
{
	static struct weft_figures figures[2];
	int i = 0, stopped = 0, key = 0;
	double next = seconds_now() + 0.3;	/* the first picture comes soon */

	if (weft_cli_figures(s->pid, "top", &figures[1]) != 0)
		return 1;
	figures[0] = figures[1];
	while (key >= 0) {
		draw(s, &figures[(i + 1) % 2], &figures[i % 2], stopped);
		while ((key = obey(s, &stopped, next)) == 0 && seconds_now() < next)
			;
		if (stopped || seconds_now() < next) {
			next = stopped ? seconds_now() + s->every : next;
			continue;
		}
		if (weft_cli_figures(s->pid, "top", &figures[i % 2]) != 0)
			return 1;
		i++;
		next = seconds_now() + s->every;
	}
	return 0;
}

/* Does not return. A message would be lost on the screen, so it goes to a file first. */
static void be_child(struct weft_screen *s, pid_t parent, int message)
{
	int status;

	signal(SIGUSR1, note_end_of_parent);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	if (getppid() != parent)
		_exit(STATUS_OWN);
	initscr();
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	if (dup2(message, STDERR_FILENO) < 0)
		_exit(STATUS_OWN);
	status = draw_all(s);
	endwin();
	exit(status);
}

static void pass_on(int signal)
{
	if (child > 0)
		kill((pid_t)child, signal);
}

static void print_message(FILE *message)
{
	char text[512];

	rewind(message);
	while (fgets(text, sizeof(text), message))
		fputs(text, stderr);
}

/* What the child would have done at its end. */
static void give_back(const struct termios *before)
{
	tcsetattr(STDIN_FILENO, TCSADRAIN, before);
	if (exit_ca_mode)
		putp(exit_ca_mode);
	if (cursor_normal)
		putp(cursor_normal);
	if (exit_attribute_mode)
		putp(exit_attribute_mode);
	fflush(stdout);
}

static int await_child(const struct termios *before)
{
	int status;

	while (waitpid((pid_t)child, &status, 0) < 0)
		if (errno != EINTR)
			return STATUS_OWN;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	give_back(before);
	return 128 + WTERMSIG(status);
}

int weft_cli_screen(struct weft_screen *s)
{
	const pid_t self = getpid();
	struct termios before;
	FILE *message = tmpfile();
	int error, status;

	setlocale(LC_ALL, "");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !message ||
	    tcgetattr(STDIN_FILENO, &before) != 0 ||
	    setupterm(NULL, STDOUT_FILENO, &error) != OK)
		return weft_cli_complain(STATUS_OWN, "top",
					 "there is no terminal that it knows: see -b");
	signal(SIGINT, pass_on);
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
	signal(SIGQUIT, pass_on);
	child = fork();
	if (child < 0)
		return weft_cli_complain(STATUS_OWN, "top", strerror(errno));
	if (child == 0) {
		signal(SIGHUP, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		be_child(s, self, fileno(message));
	}
	status = await_child(&before);
	print_message(message);
	return status;
}

#else

int weft_cli_screen(struct weft_screen *s)
{
	(void)s;
	return weft_cli_complain(STATUS_OWN, "top",
				 "was built without ncurses, and knows only -b");
}

#endif
