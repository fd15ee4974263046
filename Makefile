# Builds mtrec and mtreport. One non-recursive make; `make help` is the table of contents.
#
# The layers are libraries, and the link lines below are what holds them apart: mtrec is record/ with the libraries,
# mtreport is report/ with the libraries, and neither sees the other's objects. scripts/check-layers says the same
# about the includes.

VERSION := 0.1.0

# Settings, `make NAME=VALUE`:
#: V=1                    show the commands
#: O=DIR                  build in DIR (build)
#: SAN=address,undefined  build with sanitizers
#: CC=clang               another compiler
#: LIBUNWIND=             without libunwind, which stacks can be held against
#: WERROR=1               warnings are errors
#: CFLAGS=, LDFLAGS=      optimisation and debugging (-O2 -g), further linker flags
#: prefix=, DESTDIR=      where install puts things (/usr/local)
O ?= build
override O := $(patsubst %/,%,$(O))
ifeq ($(origin CC),default)
CC := cc
endif
# `sanitized` and `fuzz` share one tree of their own, O/san: address and undefined-behaviour sanitizers at -O1, which compiles in
# 40 % of the time of -O2, with the coverage that libFuzzer reads. The tree doubles as the build with clang.
ifneq ($(filter sanitized fuzz,$(MAKECMDGOALS)),)
override O := $(O)/san
override CC := $(if $(findstring clang,$(CC)),$(CC),clang)
override SAN := address,undefined,fuzzer-no-link
override CFLAGS := -O1 -g1
endif
CFLAGS ?= -O2 -g
prefix ?= /usr/local
bindir ?= $(prefix)/bin
mandir ?= $(prefix)/share/man
docdir ?= $(prefix)/share/doc/mtrec
completiondir ?= $(prefix)/share/bash-completion/completions
FUZZ_SECONDS ?= 10

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: all mtrec mtreport static unit-tests sanitized check check-fast lint lint-style lint-layers lint-link lint-globals format fuzz bench install uninstall \
	clean help
.DEFAULT_GOAL := all

silent := $(findstring s,$(filter-out --%,$(firstword $(MAKEFLAGS))))
ifeq ($(V),1)
Q :=
say = @:
else ifneq ($(silent),)
Q := @
say = @:
else
Q := @
say = @printf '  %-7s %s\n'
endif

# Compiler and linker ------------------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror)
san := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
compile_flags = -std=gnu11 -D_GNU_SOURCE -I. -DMT_VERSION=\"$(VERSION)\" -pthread $(WARNINGS) $(oracle_flags) $(CPPFLAGS) $(CFLAGS) $(san)
# Beside each object a list of the headers it includes. It says $(O), so that it counts however O is written.
dependencies = -MMD -MP -MT '$$(O)/$(patsubst $(O)/%,%,$@)'
link_flags = -pthread $(LDFLAGS) $(san)

# What each program links beside our own libraries. mtrec goes to hosts that have nothing: keep it short.
RECORD_LIBS := -lzstd -llzma
# capstone is loaded when code is read: its 77,000 relocations would be two thirds of each report's start.
REPORT_LIBS := $(RECORD_LIBS) -lz -liberty -ldw -lelf -ldl -lm

# A second opinion on stacks (mtreport --unwind libunwind; tests), where its header is there; LIBUNWIND= builds without.
# Loaded when it is asked.
LIBUNWIND ?= $(wildcard /usr/include/libunwind-x86_64.h /usr/include/*/libunwind-x86_64.h)
oracle_flags := $(if $(LIBUNWIND),-DHAVE_LIBUNWIND)

# Sources ------------------------------------------------------------------------------------------------------------

sources = $(sort $(wildcard $(foreach depth,/ /*/ /*/*/,$(addsuffix $(depth)*.c,$(1)))))
objects = $(patsubst %.c,$(O)/obj/%.o,$(1))

formats_objects := $(call objects,$(call sources,formats))
symbols_objects := $(call objects,$(call sources,symbols))
unwind_objects := $(call objects,$(call sources,unwind))
record_objects := $(call objects,$(filter-out record/main.c,$(call sources,record)))
report_objects := $(call objects,$(filter-out report/main.c,$(call sources,report)))
unit_sources := $(sort $(wildcard tests/unit/test_*.c))
fuzz_sources := $(sort $(wildcard tests/fuzz/fuzz_*.c))

# Top layer first: an archive resolves what stands before it, so a lower layer cannot lean on a higher one.
layer_libs := $(O)/lib/libunwind_mt.a $(O)/lib/libsymbols.a $(O)/lib/libformats.a
unit_tests := $(patsubst %.c,$(O)/%,$(unit_sources))
programs := $(O)/mtrec $(O)/mtreport

# Targets ------------------------------------------------------------------------------------------------------------

all: $(layer_libs) $(programs) ## build both programs: O/mtrec and O/mtreport

mtrec: $(O)/mtrec ## the recorder alone
mtreport: $(O)/mtreport ## the reporter alone

static: $(O)/static/mtrec ## O/static/mtrec: one file without shared libraries, for any host

$(O)/mtrec: $(O)/obj/record/main.o $(O)/lib/librecord.a $(layer_libs)
	$(say) LINK $@
	$(Q)$(CC) $(link_flags) $^ $(RECORD_LIBS) -o $@

$(O)/mtreport: $(O)/obj/report/main.o $(O)/lib/libreport.a $(layer_libs)
	$(say) LINK $@
	$(Q)$(CC) $(link_flags) $^ $(REPORT_LIBS) -o $@

$(O)/static/mtrec: $(O)/obj/record/main.o $(O)/lib/librecord.a $(layer_libs) | $(O)/deps-static
	$(if $(SAN),$(error static and SAN= exclude each other))
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(link_flags) -static $^ $(RECORD_LIBS) -o $@

$(O)/lib/libformats.a: $(formats_objects)
$(O)/lib/libsymbols.a: $(symbols_objects)
$(O)/lib/libunwind_mt.a: $(unwind_objects)
$(O)/lib/librecord.a: $(record_objects)
$(O)/lib/libreport.a: $(report_objects)

$(O)/lib/%.a: $(O)/sources
	@mkdir -p $(@D)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(O)/obj/%.o: %.c $(O)/flags | $(O)/deps
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(compile_flags) $(dependencies) -c $< -o $@

# The files of flame graphs and pages are read by the assembler (.incbin), which the compiler does not list.
$(O)/obj/report/outputs/flame/flamegraph.o: report/outputs/flame/flame.js
$(O)/obj/report/outputs/html/page.o: $(wildcard report/outputs/html/*.html report/outputs/html/*.css report/outputs/html/*.js)

-include $(patsubst %.o,%.d,$(formats_objects) $(symbols_objects) $(unwind_objects) $(record_objects) $(report_objects) \
	$(call objects,record/main.c report/main.c $(unit_sources)))

# These two files hold the flags and the list of sources of the last build; they change, here, when those do.
note = $(if $(call differ,$(file <$(O)/$(1)),$(2)),$(shell mkdir -p '$(O)')$(file >$(O)/$(1),$(2)))
differ = $(subst x$(strip $(1)),,x$(strip $(2)))$(subst x$(strip $(2)),,x$(strip $(1)))
ifneq ($(filter-out help clean uninstall lint-style lint-layers format,$(or $(MAKECMDGOALS),all)),)
$(call note,flags,$(CC) $(compile_flags) $(link_flags) $(RECORD_LIBS) $(REPORT_LIBS))
$(call note,sources,$(formats_objects) $(symbols_objects) $(unwind_objects) $(record_objects) $(report_objects))
endif

# Tests --------------------------------------------------------------------------------------------------------------

# `make check` runs all of tests/run; `make check-unit`, check-cli, check-golden, check-live ... one part of it.
check: all unit-tests ## run every test
	$(Q)MT_BUILD='$(abspath $(O))' CC='$(CC)' tests/run

check-fast: all unit-tests ## unit, cli and golden but for the slow files: under a minute
	$(Q)MT_BUILD='$(abspath $(O))' CC='$(CC)' tests/run --fast unit cli golden

check-%: all unit-tests ## check-unit, -cli, -golden, -browser, -vm, -foreign, -live: one group
	$(Q)MT_BUILD='$(abspath $(O))' CC='$(CC)' tests/run $*

unit-tests: $(unit_tests) ## build O/tests/unit/test_* without running them

$(O)/tests/unit/test_probe_point: unit_libs = -lcapstone
$(O)/tests/unit/%: $(O)/obj/tests/unit/%.o $(O)/lib/libreport.a $(O)/lib/librecord.a $(layer_libs)
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(link_flags) $^ $(REPORT_LIBS) $(unit_libs) -o $@

.SECONDARY: $(call objects,$(unit_sources))

lint: lint-style lint-layers lint-link lint-globals ## style, layers, headers, formatting

format: ## clang-format the C files in place
	$(Q)scripts/format

lint-style:
	$(Q)CC='$(CC)' scripts/check-style

lint-layers:
	$(Q)scripts/check-layers

lint-globals: $(layer_libs) $(O)/lib/librecord.a $(O)/lib/libreport.a $(programs)
	$(if $(SAN),,$(Q)scripts/check-globals $(O)/obj)

# Each layer, whole, must link with nothing but the layers below it.
lint-link: $(layer_libs)
	$(say) LAYERS $(O)/lib
	$(Q)$(call links_alone,libformats,-lzstd)
	$(Q)$(call links_alone,libsymbols libformats,$(REPORT_LIBS))
	$(Q)$(call links_alone,libunwind_mt libsymbols libformats,$(REPORT_LIBS))

links_alone = printf 'int main(void)\n{\n\treturn 0;\n}\n' | $(CC) $(link_flags) -x c - -x none -Wl,--whole-archive \
	$(patsubst %,$(O)/lib/%.a,$(1)) -Wl,--no-whole-archive $(2) -o $(O)/lib/probe || \
	{ echo "lint: $(firstword $(1)) uses what no layer below it has" >&2; exit 1; }

# One libFuzzer program per tests/fuzz/fuzz_NAME.c.
fuzz_programs := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(fuzz_sources))

sanitized: all unit-tests ## build O/san: clang, sanitizers, unit tests

fuzz: $(fuzz_programs) ## run each fuzz target for FUZZ_SECONDS=10 (needs clang)
	$(Q)printf '%s\n' $(fuzz_programs) | xargs -P "$$(nproc)" -n 1 tests/fuzz/run $(FUZZ_SECONDS)

$(O)/fuzz/%: $(O)/obj/tests/fuzz/%.o $(O)/lib/libreport.a $(O)/lib/librecord.a $(layer_libs)
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) $(link_flags) -fsanitize=fuzzer $^ $(REPORT_LIBS) -o $@

.SECONDARY: $(call objects,$(fuzz_sources))
-include $(patsubst %.o,%.d,$(call objects,$(fuzz_sources)))

bench: all ## measure: every tests/bench/*.sh
	$(Q)for f in $(sort $(wildcard tests/bench/*.sh)); do MT_BUILD='$(abspath $(O))' $$f || exit 1; done

# Installing ---------------------------------------------------------------------------------------------------------

man_pages := $(wildcard docs/*.1)
completions := $(wildcard scripts/completion/mtrec scripts/completion/mtreport)
documents := $(filter-out docs/where.md,$(wildcard formats/FORMAT.md docs/*.md docs/*.png))
installed = $(addprefix $(bindir)/,$(notdir $(programs))) $(addprefix $(mandir)/man1/,$(notdir $(man_pages))) \
	$(addprefix $(completiondir)/,$(notdir $(completions))) $(addprefix $(docdir)/,$(notdir $(documents)))
put = $(if $(1),install -d '$(DESTDIR)$(2)' && install -m $(3) $(1) '$(DESTDIR)$(2)',:)

install: all ## install under DESTDIR and prefix: programs, man pages, completion, documents
	$(Q)$(call put,$(programs),$(bindir),755)
	$(Q)$(call put,$(man_pages),$(mandir)/man1,644)
	$(Q)$(call put,$(completions),$(completiondir),644)
	$(Q)$(call put,$(documents),$(docdir),644)

uninstall: ## remove what install put there
	$(Q)rm -f $(patsubst %,'$(DESTDIR)%',$(installed))

clean: ## remove the build directory O
	$(Q)rm -rf '$(O)'

help: ## this text
	@echo 'mtrec $(VERSION)'
	@echo
	@sed -n 's/^\([a-z%-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "  make %-12s %s\n", $$1, $$2 }'
	@echo
	@echo '  Settings:'
	@sed -n 's/^#: /    /p' Makefile

# What has to be there before anything compiles ----------------------------------------------------------------------

# $(call need,header,libraries,what,Debian package,Fedora package,further flags): one sentence that names the package.
need = printf '\#include <$(1)>\nint main(void)\n{\n\treturn 0;\n}\n' | \
	$(CC) -x c - -x none $(6) $(2) -o $@.probe 2>/dev/null || { rm -f $@.probe; \
	echo "make: $(3) is missing: install $(4) (Debian, Ubuntu) or $(5) (Fedora), or run scripts/install-deps." >&2; exit 1; }

$(O)/flags $(O)/sources: ; # written above; `make clean all` takes them away again

$(O)/deps: $(O)/flags
	@command -v $(firstword $(CC)) >/dev/null || \
		{ echo "make: no compiler '$(firstword $(CC))': install gcc (or clang for CC=clang), or run scripts/install-deps." >&2; exit 1; }
	@$(call need,stdio.h,,the C library to compile against,libc6-dev,glibc-devel)
	@$(call need,linux/perf_event.h,,the kernel's user headers,linux-libc-dev,kernel-headers)
	@$(call need,zstd.h,-lzstd,libzstd,libzstd-dev,libzstd-devel)
	@$(call need,lzma.h,-llzma,liblzma,liblzma-dev,xz-devel)
	@$(call need,zlib.h,-lz,zlib,zlib1g-dev,zlib-devel)
	@$(call need,stdlib.h,-liberty,libiberty,libiberty-dev,binutils-devel)
	@$(call need,libelf.h,-lelf,libelf,libelf-dev,elfutils-libelf-devel)
	@$(call need,elfutils/libdwfl.h,-ldw,libdw,libdw-dev,elfutils-devel)
	@$(call need,capstone/capstone.h,-lcapstone,capstone,libcapstone-dev,capstone-devel)
	@rm -f $@.probe && touch $@

$(O)/deps-static: | $(O)/deps
	@$(call need,stdio.h,,the static C library,libc6-dev,glibc-static,-static)
	@$(call need,zstd.h,-lzstd,the static libzstd,libzstd-dev,libzstd-static,-static)
	@$(call need,lzma.h,-llzma,the static liblzma,liblzma-dev,xz-static,-static)
	@rm -f $@.probe && touch $@
