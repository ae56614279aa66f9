// Package scenario plays what a client meets in the field: a fixed sequence of faults, and then good answers. A scenario strikes the first n requests of
// each client that fit, never by chance, so that a test of the client ends the same way each time.
//
// [All] is the table of scenarios; each stands in the file of its group. A [Play] is one of them as it was asked for, a [Stage] the plays of
// one node. Every answer that was spoilt says so in the header field [Header]. Where several plays fit a request, the first that answers in the node's
// place does so, in the order in which they were put on; of those that spoil a good answer, each does.
package scenario
