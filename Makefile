# fairtree: the commands of the house. `make help` lists them.

# SLURM=24.11.5, SLURM_PREFIX=... and SLURM_SRC=... on the command line reach the tools through their
# environment.
SLURM_SRC ?=
SLURM_PREFIX ?=
KEEP ?=
ONLY ?=

# The release where none is named: with a prefix, the one that is installed there.
RELEASE := $(if $(SLURM)$(SLURM_PREFIX),,SLURM=22.05.8)

CARGO ?= cargo
XTASK := $(CARGO) run --quiet --package xtask --
TESTBED := $(CARGO) run --quiet --package fairtree-testbed --

.DEFAULT_GOAL := help
.PHONY: help build test test-all check-cluster check-packages plugin demo bench packages msrv doc clean deps

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24
	@echo
	@echo 'How often each section of the tests runs: `commit` by make test, `night` by make test-all:'
	@$(XTASK) sections
	@echo
	@echo 'One test alone, by its name; `-- --list` lists the names:'
	@echo '  a cluster check       cargo test --package fairtree-testbed --test cluster -- restarts_lose_no_usage'
	@echo '  a life of a seed      cargo test --package fairtree-testbed --test lives -- --exact same::seed_17'
	@echo '  a property            cargo test --test oracle -- row_order_does_not_matter'
	@echo '  any seed, any length  cargo testbed help'
	@echo
	@echo '  SLURM=22.05.8          the release of Slurm, this one or 24.11.5; with test and test-all: only it'
	@echo '  SLURM_PREFIX=<folder>  where your own Slurm is installed: plugin, demo, test and bench use it'
	@echo '  SLURM_SRC=<folder>     a configured source tree of Slurm to build against'
	@echo '  KEEP=1                 with demo: leave the cluster running'
	@echo '  ONLY=service           with bench: only this section, or several, as in cargo testbed bench --help'

deps: ## install the Debian packages for make test (NEED=plugin, demo or test-all: for that), as root
	$(XTASK) deps $(NEED)

build: ## build the libraries and the command
	$(CARGO) build --release

plugin: ## build target/slurm/<release>/priority_fairtree.so
	$(XTASK) plugin $(if $(SLURM_SRC),--slurm-src '$(SLURM_SRC)')

test: ## test a change: style, unit tests, C programs, the plugin, private clusters; fixed seeds
	$(XTASK) test

test-all: ## test everything, with fresh seeds, for hours; continues after an interruption
	env -u SLURM_PREFIX -u SLURM_SRC $(XTASK) test-all
	$(if $(SLURM_PREFIX),$(XTASK) test-all)

check-cluster: ## only the checks in a private cluster
	$(CARGO) test --package fairtree-testbed --test cluster

check-packages: ## only the checks of packages: lintian, install, upgrade, remove, purge
	$(XTASK) check-packages

demo: ## a tour of a private cluster with our plugin (KEEP=1: leave it running)
	$(TESTBED) demo $(if $(KEEP),--keep)

bench: ## measure passes and the engine beside Slurm's own plugin; writes target/bench/report.md
	$(RELEASE) $(TESTBED) bench $(ONLY)

packages: ## make Debian packages in target/packages (RPM=1: RPM packages, too; PACKAGER=slurm-smd: for SchedMD's Slurm)
	$(XTASK) packages $(if $(SLURM_SRC),--slurm-src '$(SLURM_SRC)') $(if $(RPM),--rpm)

msrv: ## build with the oldest compiler that is promised (Debian trixie's, as root)
	$(XTASK) msrv

doc: ## the documentation of the Rust code, in target/doc
	$(CARGO) doc --no-deps --workspace --document-private-items

clean: ## remove all that was built
	$(CARGO) clean

-include packaging/install.mk
