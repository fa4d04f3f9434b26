# One-line doors to the Meson build. BUILD names the build directory, PREFIX where `make install` puts things.
BUILD ?= build
PREFIX ?= /usr/local

.PHONY: all demo check peers install format clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/install-packages build
	@meson setup $(BUILD) --prefix=$(PREFIX) >/dev/null

# The seed's test on this machine, and its table beside the six machines of the seed.
demo: all
	@tools/install-packages demo
	@$(BUILD)/src/shoal bench --method shoal --method tar --method cp
	@$(BUILD)/src/shoal report --reference
	@$(BUILD)/src/shoal report --beside-reference

# Every test, on ext4, xfs, btrfs and tmpfs (as root; else those are skipped).
check:
	@tools/install-packages build demo check
	@$(MAKE) --no-print-directory all
	@meson configure $(BUILD) -Dtests=enabled
	@meson test -C $(BUILD) --print-errorlogs

# Shoal beside its peers, on fresh file systems (as root): some minutes.
peers: all
	@tools/install-packages demo peers
	@bench/peers
	@bench/archives

install: all
	@meson install -C $(BUILD)

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf $(BUILD)
