# One script per job, in scripts/. `make demo` and `make test` set a fresh machine up by themselves.
PREFIX ?= /usr/local

.PHONY: demo gallery test lint format sanitize soak fuzz mutants bench docs screenshots fixtures example-gtk serve test-server follow install uninstall deb deb-check fresh clean

demo:
	URLS="$(URLS)" scripts/demo

gallery:
	scripts/gallery

test:
	scripts/test

lint:
	scripts/lint

format:
	swift format format --in-place --parallel $$(git ls-files --cached --others --exclude-standard '*.swift')

sanitize:
	scripts/sanitize

soak:
	scripts/soak

fuzz:
	scripts/fuzz

# Changes the library in 200 places, one at a time, and lists the changes that no test notices.
mutants:
	scripts/mutants

bench:
	scripts/bench

docs:
	scripts/docs
	scripts/api
	scripts/site

# Takes the pictures of the documents again, in docs/.
screenshots:
	scripts/screenshots

# Draw and encode what is committed under Tests/Fixtures and demo/gallery again.
fixtures:
	scripts/make-fixtures
	for script in scripts/fixtures/*; do "$$script" || exit; done
	scripts/make-gallery

# Builds Halcyon Server, runs it on the loopback with the demo's pictures and prints three URLs.
serve:
	scripts/serve

# Builds Halcyon Server and its tests, and runs them.
test-server:
	scripts/test-server

# Builds the views for programs in C, and the examples in C, Vala and Python, which show a picture.
example-gtk:
	scripts/test-gtk-examples

# Follows docs/GettingStarted.md word by word in an empty folder.
follow:
	scripts/follow

# The tool, and the views for programs in C.
install:
	scripts/install-packages
	scripts/build -c release --enable-all-traits --product halcyon
	scripts/build -c release --enable-all-traits --product halcyon-decode-worker
	scripts/build -c release --enable-all-traits --product halcyon-gtk
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install "$$(scripts/build -c release --enable-all-traits --show-bin-path)"

# Removes what `make install` with the same DESTDIR and PREFIX has installed.
uninstall:
	DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install --remove

# Builds a Debian package of both programs; `make deb-check` installs it in a Debian system that is made for it.
deb:
	scripts/deb

deb-check:
	scripts/deb --check

# Runs the two commands of the README on a Debian system that is made for it.
fresh:
	scripts/fresh

clean:
	rm -rf .build Benchmarks/.build Fuzz/.build Server/.build Examples/*/.build demo/contact-sheet.png
