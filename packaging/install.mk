# `make install PREFIX=/usr/local DESTDIR=`: library, header, pkg-config file, command, manual
# pages, completions and systemd units (which start nothing until they are enabled). `make uninstall`
# with the same variables takes them away again.
#
# Works alone, from the folder above: make -f packaging/install.mk install

CARGO ?= cargo
INSTALL ?= install
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
UNITDIR ?= $(PREFIX)/lib/systemd/system
# cargo's profile: `release`, or `dev` to see quickly whether installing works.
PROFILE ?= release

# Built apart from the developers' own builds: the library with no other feature than the C ABI, and the
# command.
BUILD = target/install
PROFILE_DIR = $(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
LIB_BUILT = $(BUILD)/lib/$(PROFILE_DIR)
BIN_BUILT = $(BUILD)/bin/$(PROFILE_DIR)
CARGO_ARGS = --locked --profile $(PROFILE) --target-dir $(BUILD)

VERSION = $(shell sed -n 's/^\#define FT_VERSION "\(.*\)"$$/\1/p' include/fairtree.h)
ABI = $(shell sed -n 's/^\#define FT_ABI_VERSION \([0-9]*\)u$$/\1/p' include/fairtree.h)

SHARED = $(DESTDIR)$(LIBDIR)/libfairtree.so
PKGCONFIG = $(DESTDIR)$(LIBDIR)/pkgconfig/fairtree.pc
HEADER = $(DESTDIR)$(INCLUDEDIR)/fairtree.h
BASH_COMPLETION = $(DESTDIR)$(DATADIR)/bash-completion/completions/fairtree
ZSH_COMPLETION = $(DESTDIR)$(DATADIR)/zsh/site-functions/_fairtree
# Each has a service and a timer.
UNITS = fairtree-capture fairtree-ledger@
UNIT_FILES = $(foreach unit,$(UNITS),$(DESTDIR)$(UNITDIR)/$(unit).service $(DESTDIR)$(UNITDIR)/$(unit).timer)
FISH_COMPLETION = $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/fairtree.fish

SERVE_MAN = $(DESTDIR)$(MANDIR)/man1/fairtree-serve.1
SERVE_UNIT = $(DESTDIR)$(UNITDIR)/fairtree-serve.service
SERVE_USER = $(DESTDIR)$(PREFIX)/lib/sysusers.d/fairtree-serve.conf
SYSCONFDIR ?= /etc

.PHONY: install install-lib install-command install-serve uninstall

install: install-lib install-command ## install library, header and command (PREFIX=, DESTDIR=)

install-lib: ## install only library, header and pkg-config file
	$(CARGO) rustc --package fairtree --lib $(CARGO_ARGS)/lib --no-default-features --features capi -- \
	    --print native-static-libs=$(abspath $(BUILD))/native-static-libs
	$(INSTALL) -d $(dir $(SHARED)) $(dir $(PKGCONFIG)) $(dir $(HEADER))
	$(INSTALL) -m 755 $(LIB_BUILT)/libfairtree.so $(SHARED).$(VERSION)
	ln -sf libfairtree.so.$(VERSION) $(SHARED).$(ABI)
	ln -sf libfairtree.so.$(ABI) $(SHARED)
	$(INSTALL) -m 644 $(LIB_BUILT)/libfairtree.a $(DESTDIR)$(LIBDIR)/libfairtree.a
	$(INSTALL) -m 644 include/fairtree.h $(HEADER)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	    -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	    -e "s|@LIBS_PRIVATE@|$$(cat $(BUILD)/native-static-libs)|" \
	    packaging/fairtree.pc.in > $(PKGCONFIG)
	chmod 644 $(PKGCONFIG)

install-command: ## install only the command, its manual pages, completions and units
	$(CARGO) build --package fairtree-cli $(CARGO_ARGS)/bin
	rm -rf $(BUILD)/man $(BUILD)/completions
	$(BIN_BUILT)/fairtree generate man $(BUILD)/man
	$(BIN_BUILT)/fairtree generate completions $(BUILD)/completions
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1 $(dir $(BASH_COMPLETION)) \
	    $(dir $(ZSH_COMPLETION)) $(dir $(FISH_COMPLETION)) $(DESTDIR)$(UNITDIR)
	$(INSTALL) -m 755 $(BIN_BUILT)/fairtree $(DESTDIR)$(BINDIR)/fairtree
	$(INSTALL) -m 644 $(BUILD)/man/*.1 $(DESTDIR)$(MANDIR)/man1/
	$(INSTALL) -m 644 $(BUILD)/completions/fairtree.bash $(BASH_COMPLETION)
	$(INSTALL) -m 644 $(BUILD)/completions/_fairtree $(ZSH_COMPLETION)
	$(INSTALL) -m 644 $(BUILD)/completions/fairtree.fish $(FISH_COMPLETION)
	for unit in $(UNITS); do \
	    sed -e 's|@BINDIR@|$(BINDIR)|' packaging/$$unit.service.in \
	        > $(DESTDIR)$(UNITDIR)/$$unit.service && \
	    chmod 644 $(DESTDIR)$(UNITDIR)/$$unit.service && \
	    $(INSTALL) -m 644 packaging/$$unit.timer $(DESTDIR)$(UNITDIR)/ || exit 1; \
	done

# Settings that are already there stay.
install-serve: ## install only the service, its manual page, unit, user and settings
	$(CARGO) build --package fairtree-serve $(CARGO_ARGS)/bin
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(dir $(SERVE_MAN)) $(dir $(SERVE_UNIT)) $(dir $(SERVE_USER)) \
	    $(DESTDIR)$(SYSCONFDIR)/fairtree
	$(INSTALL) -m 755 $(BIN_BUILT)/fairtree-serve $(DESTDIR)$(BINDIR)/fairtree-serve
	$(BIN_BUILT)/fairtree-serve --man > $(SERVE_MAN)
	sed -e 's|@BINDIR@|$(BINDIR)|' packaging/fairtree-serve.service.in > $(SERVE_UNIT)
	chmod 644 $(SERVE_MAN) $(SERVE_UNIT)
	$(INSTALL) -m 644 packaging/fairtree-serve.sysusers $(SERVE_USER)
	[ -e $(DESTDIR)$(SYSCONFDIR)/fairtree/serve.toml ] || \
	    $(INSTALL) -m 644 packaging/serve.toml $(DESTDIR)$(SYSCONFDIR)/fairtree/serve.toml

uninstall: ## remove what `make install` put there, given the same variables
	rm -f $(SHARED) $(SHARED).* $(DESTDIR)$(LIBDIR)/libfairtree.a $(PKGCONFIG) $(HEADER) \
	    $(DESTDIR)$(BINDIR)/fairtree $(DESTDIR)$(MANDIR)/man1/fairtree.1 \
	    $(DESTDIR)$(MANDIR)/man1/fairtree-*.1 $(BASH_COMPLETION) $(ZSH_COMPLETION) \
	    $(FISH_COMPLETION) $(UNIT_FILES) $(DESTDIR)$(BINDIR)/fairtree-serve $(SERVE_UNIT) $(SERVE_USER)
