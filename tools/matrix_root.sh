# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # tools/matrix sets them
# tools/matrix_root.sh - the root directories of tools/matrix, and the sources in them
#
# For tools/matrix, which has this text read by its shell. Both use these names:
#
#	$top	the sources
#	$list	a file: what list_sources told of them
#	$roots	where the root directories are
#	$root	the root directory of the distribution $name
#	$again	not empty if all is to be anew

debian=http://deb.debian.org/debian
ubuntu=http://archive.ubuntu.com/ubuntu

# The suite and its archive, and the script of debootstrap that knows it.
suite_of()
{
	case $1 in
	debian-11) echo bullseye $debian ;;
	debian-12) echo bookworm $debian ;;
	debian-13) echo trixie $debian ;;
	debian-sid) echo sid $debian ;;
	ubuntu-22.04) echo jammy $ubuntu gutsy ;;
	ubuntu-24.04) echo noble $ubuntu gutsy ;;
	ubuntu-25.10) echo questing $ubuntu gutsy ;;
	ubuntu-26.04) echo resolute $ubuntu gutsy ;;
	ubuntu-26.10) echo stonking $ubuntu gutsy ;;
	*) return 1 ;;
	esac
}

# What apt fetches with the lists of packages. Descriptions in other languages, and of
# programs for shops of software, are more than the lists. A mirror may be older than the
# date up to which its lists say that they hold.
write_settings()
{
	cat >"$root/etc/apt/apt.conf.d/90weft" <<-'END'
	Acquire::Check-Valid-Until "false";
	Acquire::Languages "none";
	Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
	END
}

# Packages of Ubuntu's are checked where this machine has Ubuntu's keys.
make_root()
{
	local suite keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg check="" parts=main
	! is_root_fresh || return 0
	read -ra suite <<<"$(suite_of "$name")"
	case ${suite[1]} in
	"$ubuntu")
		parts=main,universe
		if [ -f $keys ]; then check=--keyring=$keys; else check=--no-check-gpg; fi ;;
	esac
	say "debootstrap ${suite[0]} ..."
	rm -rf "$root" "$roots/$name.results"
	# shellcheck disable=SC2086 # an option or nothing
	debootstrap --variant=minbase $check --components=$parts \
		"${suite[0]}" "$root" "${suite[@]:1}" >"$roots/$name.log" 2>&1 &&
	write_settings &&
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/weft" &&
	touch "$root/.made"
}

# Is there a root directory, with the packages of today where they change each day? What
# older packages have built and shown is taken away.
is_root_fresh()
{
	[ -f "$root/.made" ] || return
	[ "$name" = debian-sid ] || return 0
	[ -n "$(find "$root/.made" -mmin +1440)" ] || return 0
	say "apt-get dist-upgrade ..."
	rm -rf "$root/weft" "$roots/$name.results"
	write_settings &&
	in_root "apt-get update && apt-get dist-upgrade -y" >"$roots/$name.log" 2>&1 &&
	touch "$root/.made"
}

# in_root COMMAND: by a shell in the root, with the kernel's file systems. They are
# mounted in a namespace of the command's own, so nothing is left to unmount.
# shellcheck disable=SC2016 # it is the inner shell that expands
in_root()
{
	unshare -m bash -c '
		mount --make-rprivate / &&
		for fs in /proc /sys /dev; do
			mount --rbind $fs "$0$fs" || exit
		done
		exec chroot "$0" /usr/bin/env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
			PATH=/usr/lib/ccache:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			CCACHE_DIR=/var/cache/ccache CCACHE_MAXSIZE=1G \
			DEBIAN_FRONTEND=noninteractive bash -c "$1"' "$root" "$1"
}

# The name of each file of the sources behind its checksum, and behind its mode.
list_sources()
{
	(cd "$top" && git ls-files -z --cached --others --exclude-standard |
		while IFS= read -r -d "" file; do
			[ ! -f "$file" ] || printf '%s\0' "$file"
		done | xargs -0r sh -c 'sha1sum "$@" && stat -c "%A  %n" "$@"' sh) | sort
}

# The files that differ from what was copied last, as files of this moment: of a file from
# another tree make would think that it is older than what was built. Files that are in the
# sources no more are removed.
copy_sources()
{
	local copied=$root/weft/.copied
	[ -z "$again" ] || rm -rf "$root/weft"
	mkdir -p "$root/weft" && touch "$copied" &&
	comm -13 <(names <"$list") <(names <"$copied") | (cd "$root/weft" && xargs -r rm -f) &&
	comm -23 "$list" "$copied" | names |
		(cd "$top" && tar c -T -) | tar x -m -C "$root/weft" &&
	cp "$list" "$copied"
}

names()
{
	sed 's/^[^ ]*  //' | sort -u
}

install_in_root()
{
	in_root "missing=
		for p in $*; do
			dpkg-query -W -f '\${db:Status-Status}\n' \$p 2>/dev/null |
				grep -qx installed || missing+=\" \$p\"
		done
		[ -n \"\$missing\" ] || exit 0
		apt-get install -y --no-install-recommends \$missing ||
		{ apt-get update && apt-get install -y --no-install-recommends \$missing; }"
}
