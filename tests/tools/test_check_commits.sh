#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_commits.sh - a subject is refused that is long, or says no area
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

check=$tools/check-commits
subject72="tools/check-commits: a subject that takes all of the columns that it may"

# silent WHAT ROOT: the check passes, without a word
silent()
{
	passes "$1" "$check" "$2"
	[ -s "$work/out" ] || return
	echo "not silent: $1"
	faults=$((faults + 1))
}

mkdir "$work/bare" "$work/home" "$work/repo"
silent "a folder without git" "$work/bare"
printf '#!/bin/sh\nexit 127\n' >"$work/home/git"
chmod +x "$work/home/git"
passes "a machine without git" env PATH="$work/home:$PATH" "$check" "$work/bare"
fails "an unknown option" 'check-commits \[ROOT\]' "$check" --nothing

command -v git >/dev/null || finish
export HOME="$work/home" GIT_CONFIG_NOSYSTEM=1

# repo COMMAND...: git, in the repository
repo()
{
	git -C "$work/repo" -c user.name=weft -c user.email=weft@example.org "$@"
}

# commit SUBJECT [TIME]
commit()
{
	GIT_COMMITTER_DATE="${2-1900000000} +0000" \
		repo commit -q --allow-empty -m "$1"
}

repo init -q
commit "a subject from the time before the check, which is too long and has no area" \
	1795688838
commit "$subject72"
commit "sync/waiters, os/tls: two areas"
commit 'Revert "tools/check-commits: a subject that takes all of the columns that it may"'
silent "good subjects" "$work/repo"

mkdir "$work/repo/weft-1"
commit "no area"
silent "a tarball inside another repository" "$work/repo/weft-1"
fails "a subject without an area" 'no "area: " in front: no area$' \
	"$check" "$work/repo"
commit "${subject72}s"
fails "a subject of 73 columns" '73 columns, at most 72: tools' "$check" "$work/repo"

git clone -q --depth 1 "file://$work/repo" "$work/shallow"
fails "a long subject in a shallow clone" '73 columns' "$check" "$work/shallow"
repo reset -q --hard HEAD~2
rm -rf "$work/shallow"
git clone -q --depth 2 "file://$work/repo" "$work/shallow"
silent "good subjects in a shallow clone" "$work/shallow"

finish
