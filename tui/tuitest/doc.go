// Package tuitest is what tests of the tour stand on: a node to walk on with a clock that they move, the suite in this process, keys by their
// names, commands that run as a program runs them, and what every frame must hold to. Only tests import it: it starts a sandbox, of which the
// tour itself knows nothing.
package tuitest
