// Package worker runs a certification in a child process of the same binary.
//
// Everything a node sends is hostile, and a node that manages to exhaust the process that reads it must not take the verdict
// with it. So the child talks to the node and streams evidence to disk; the parent bounds its time and memory, ends its
// process group, and reports from the evidence that is there.
//
// The job goes to the child over stdin, so that no secret stands on a command line or in an environment; events come back
// as NDJSON on the child's stdout. The child ends when its stdin does.
package worker
