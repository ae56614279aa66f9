// Command rin is the proving ground of a network of research-information nodes: a sandbox node, a conformance suite that
// certifies any live node, and the sample data both speak about.
//
// Each command lives in its own file; run wires streams, environment, clock and randomness and nothing else.
package main
