#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Package (PyPI): ziglang 0.15.1, whose `c++` is clang 20.1.2. Debian's clang 14.0.6 does the same.
#
# Behaviour: a generic lambda returns the address of a static member function template that is defined later in the file. A
# function whose return type is deduced (`auto`) calls the lambda for each type of a parameter pack, through an array of
# captureless lambdas. clang compiles this without a warning and does not emit the function template for the last types, so
# the program does not link. It links if the function states its return type, or if the template is defined before its use.
# g++ 12 links all three forms.
#
# Why it surprises: [temp.point] of the C++ standard lets a function template be defined anywhere in the translation unit, and
# the deduced type is the stated one. Nothing points at the missing definition: it is some lines below.
#
# Seen:
#   return type  definition of the template  clang 20.1.2         g++ 12.2
#   auto         after its use               undefined reference  links
#   stated       after its use               links                links
#   auto         before its use              links                links
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export ZIG_GLOBAL_CACHE_DIR=$folder/cache
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check ziglang==0.15.1

# program RETURN_TYPE PLACE: the program, with the template's definition before or after its use.
program() {
    local definition='template <class T> int Chosen::size() { return sizeof(T); }'
    cat <<CPP
#include <array>

using Function = int (*)();
template <class T> struct Tag {};

struct Chosen {
    Function function;
    explicit Chosen(unsigned number);
    template <class T> static int size();
};

template <class... Types> struct List {
    template <class Choose> static $1 call(unsigned number, Choose&& choose) {
        constexpr std::array calls{+[](Choose& one) -> Function { return one(Tag<Types>{}); }...};
        return calls[number](choose);
    }
};

$([[ $2 == before ]] && echo "$definition")
Chosen::Chosen(unsigned number)
    : function(List<char, long>::call(number, []<class T>(Tag<T>) -> Function { return &size<T>; })) {}
$([[ $2 == after ]] && echo "$definition")
int main(int count, char**) { return Chosen(static_cast<unsigned>(count)).function() == sizeof(long) ? 0 : 1; }
CPP
}

failed=0
# expect ANSWER RETURN_TYPE PLACE COMPILER...
expect() {
    local wanted=$1 form="$2, $3"
    program "$2" "$3" >program.cpp
    shift 3
    local seen=links
    if ! "$@" -std=c++20 -O1 program.cpp -o program >log.txt 2>&1; then
        grep -qi 'undefined.*size<' log.txt && seen=undefined || seen=error
    elif ! ./program; then
        seen=wrong
    fi
    echo "$1 $form: $seen"
    [[ $seen == "$wanted" ]] || { echo "expected: $wanted" >&2; failed=1; }
}
zig=(venv/bin/python -m ziglang c++)
expect undefined auto after "${zig[@]}"
expect links Function after "${zig[@]}"
expect links auto before "${zig[@]}"
if command -v g++ >/dev/null; then
    expect links auto after g++
fi
exit "$failed"
