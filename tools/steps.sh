# What the scripts share: messages, the status line, the lock. Sourced, never run; root is the source tree.
# shellcheck shell=bash disable=SC2154
# Everything here goes to stderr, so that stdout stays the program's.

say() { printf 'paceline: %s\n' "$*" >&2; }

# fail CODE SENTENCE: 1 when something failed while working, 2 when the user has to change something.
fail() {
  local code=$1
  shift
  clear_status
  say "$*"
  exit "$code"
}

# One line that rewrites itself on a terminal; elsewhere a plain line at most every ten seconds.
status_time=0
show_status() {
  if [[ -t 2 ]]; then
    local width=${COLUMNS:-80} line="paceline: $*"
    printf '\r\033[K%s' "${line:0:width-1}" >&2
  elif ((EPOCHSECONDS - status_time >= 10)); then
    status_time=$EPOCHSECONDS
    say "$*"
  fi
}
clear_status() { if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi; }

# One set-up or build at a time in this tree. Held (on descriptor 9) until release_lock or the end of
# the script; a script called by the one that holds it goes straight on.
take_lock() {
  [[ -n ${PACELINE_LOCK_HELD-} ]] && return
  mkdir -p "$root/build" 2>/dev/null || fail 1 "$root/build cannot be created; is the folder writable for you?"
  { exec 9>"$root/build/.lock"; } 2>/dev/null || fail 1 "$root/build/.lock cannot be written; is the folder writable for you?"
  if ! flock -n 9; then
    say "waiting: another set-up or build is at work in $root"
    flock 9
  fi
  export PACELINE_LOCK_HELD=1
}
release_lock() {
  exec 9>&-
  unset PACELINE_LOCK_HELD
}
