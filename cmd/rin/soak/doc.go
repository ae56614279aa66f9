// Package soak keeps a sandbox busy for a while (make soak): the built binary with journal, CORS, seam and scenarios in place, at 80 % of what it
// can do, where not one answer may be wrong and memory may not grow.
package soak
