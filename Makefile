# The targets people type; the work is in CMakePresets.json and scripts/.
.DEFAULT_GOAL := help
.PHONY: help setup demo test benchmark docs coverage format tidy fuzz clean

help:
	@echo "make demo       install what is missing, build, predict on four devices and sweep batch and context"
	@echo "make test       install what is missing, build, run every test, packaging and clang-tidy included"
	@echo "make benchmark  speed of predict(), of one point and of a sweep"
	@echo "make docs       the documentation, under build/docs"
	@echo "make coverage   line coverage of the tests (needs lcov)"
	@echo "make format     clang-format over every source"
	@echo "make tidy       clang-tidy over every source, tests too"
	@echo "make fuzz       libFuzzer over each reader for SECONDS (60)"
	@echo "make clean      remove build/"

setup:
	@scripts/setup.sh

demo: setup
	@scripts/quiet.sh cmake --workflow --preset demo
	@scripts/demo.sh build/demo/bin/tokenroof

# The test runner comes last, so that its summary is what one sees.
test: setup
	cmake --workflow --preset everything

benchmark: setup
	cmake --preset release
	cmake --build --preset release
	@for program in build/release/bin/*_benchmark; do if [ -x "$$program" ]; then "$$program"; fi; done

docs: setup
	cmake --preset dev -D TOKENROOF_BUILD_DOCS=ON
	cmake --build build/dev --target docs

coverage: setup
	cmake --workflow --preset coverage
	lcov --quiet --capture --directory build/coverage --include '*/include/tokenroof/*' --include '*/src/*' \
	  --output-file build/coverage/coverage.info
	lcov --list build/coverage/coverage.info

format:
	git ls-files '*.hpp' '*.cpp' | xargs clang-format -i

tidy: setup
	cmake --workflow --preset tidy

fuzz:
	@scripts/setup.sh libclang-rt-dev
	cmake --preset fuzz
	cmake --build --preset fuzz
	@scripts/fuzz.sh $(or $(SECONDS),60)

clean:
	rm -rf build
