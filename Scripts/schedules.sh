# shellcheck shell=bash disable=SC2034 # Scripts/checks/schedules and Scripts/prove use what this file sets
# Builds the program that tries schedules (Tests/Schedules).

source "$(dirname "${BASH_SOURCE[0]}")/c.sh"

schedules=$build/schedules
schedule_flags=(-g -O1 -fno-omit-frame-pointer -fexceptions -DKVO_POISON -DKVO_SIMULATED_BUFFERS)
interposing=(-include "$root/Tests/Schedules/interpose.h")

# build_schedules: builds $schedules/schedules from the runtime with the scheduler's switching points, except for
# memory.c, which the program replaces. Sets schedule_objects to the runtime's objects.
build_schedules() {
  local sum object
  read_link_flags
  read -ra ffi_flags < <(pkg-config --cflags libffi && echo)
  mkdir -p "$schedules"
  # Objects are cached by their flags (see compile), so the flags contain this checksum.
  sum=$(cat Tests/Schedules/interpose.h Tests/Chaos/points.h | sha1sum | cut -c -12)
  compile schedules "${schedule_flags[@]}" -w "${interposing[@]}" "-DPOINTS=$sum"
  schedule_objects=()
  for object in "${objects[@]}"; do
    [ "${object##*/}" = memory.c.o ] || schedule_objects+=("$object")
  done
  rm -f "$schedules"/*.c.o # of sources that are gone
  printf '%s\n' Tests/Schedules/*.c | compile_all "$schedules" clang "${c_flags[@]}" "${schedule_flags[@]}" \
    -Wall -Wextra -Wstrict-prototypes -Werror
  link_schedules "$schedules/schedules" "${schedule_objects[@]}"
}

# link_schedules PROGRAM OBJECT...: not position-independent, so that addresses are the same in each run.
link_schedules() {
  clang++ -no-pie -g "$schedules"/*.c.o "${@:2}" "${link_flags[@]}" -lpthread -o "$1"
}

# notices MUTANT ARGUMENT...: whether the scheduler, run with these arguments, reports a failure of the runtime that the
# mutant breaks. The program is $schedules/MUTANT, what it prints is in MUTANT.log beside it. Sets sabotaged_status to
# its status.
notices() {
  link_sabotaged "$1" "$schedules/$1" || fail "the runtime with $1 can't be linked"
  sabotaged_status=0
  "$schedules/$1" "${@:2}" >"$schedules/$1.log" || sabotaged_status=$?
  [ $sabotaged_status = 1 ] && grep -q '^wrong: ' "$schedules/$1.log"
}

# link_sabotaged MUTANT PROGRAM: links the program with the runtime broken by a mutant of Tests/Mutants.
link_sabotaged() {
  local folder=$schedules/sabotaged sources source object rest=()
  rm -rf "$folder"
  sources=$(python3 Scripts/apply_mutant.py "$1" "$folder/CKVORuntime") || fail "$1 is no mutant"
  # If the mutant changes a header, apply_mutant.py lists all C sources, but no C++ sources.
  [[ $sources != *$'\n'* ]] || sources+=$'\n'$(printf '%s\n' "$folder"/CKVORuntime/*/*.cpp)
  while IFS= read -r source; do
    compile_sabotaged "$source" "$folder" || fail "$1 can't be compiled"
  done < <(grep -v '/memory.c$' <<<"$sources")
  for object in "${schedule_objects[@]}"; do
    [ -e "$folder/${object##*/}" ] || rest+=("$object")
  done
  link_schedules "$2" "${rest[@]}" "$folder"/*.o
}

compile_sabotaged() { # SOURCE FOLDER
  local language=(clang -std=c11)
  [[ $1 != *.cpp ]] || language=(clang++ -std=c++17)
  "${language[@]}" "${c_flags[@]:1:1}" "-I$2/CKVORuntime/include" "-I$2/CKVORuntime" "${ffi_flags[@]}" \
    -DKVO_EXCEPTIONS "${schedule_flags[@]}" -w "${interposing[@]}" -c "$1" -o "$2/${1##*/}.o"
}
