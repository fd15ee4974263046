# For tests with a browser: source this file after tests/lib.sh.
# shellcheck shell=bash

# needs_browser: skips the whole file if chromium or its driver is missing. NODE_PATH and CHROMIUM say where they are.
needs_browser() {
	CHROMIUM=$(command -v chromium || command -v chromium-browser) || skip_all 'no chromium: scripts/install-deps ci installs it'
	command -v node >/dev/null || skip_all 'no node: scripts/install-deps ci installs it'
	NODE_PATH=${NODE_PATH:-$(npm root -g 2>/dev/null)}
	export CHROMIUM NODE_PATH
	node -e 'require("puppeteer-core")' 2>/dev/null || skip_all 'no puppeteer-core: scripts/install-deps ci installs it'
}
