// Package e2e certifies servers that nobody here wrote, with the built binary. Its tests need Node and npm (and Chromium for the
// picture of a report), so they stand behind the build tag e2e; make e2e runs them. What is missing is skipped with a loud line.
package e2e
