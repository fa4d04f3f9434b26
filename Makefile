# One-line doors to the Meson build.
BUILD ?= build
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

.PHONY: all demo check install packages format clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

