// Package tui is the tour in a terminal: it walks a person from the registry to the first funding call, one step at a time, with the real
// requests on the wire.
//
// [App] keeps the place in the walk, the size of the screen, help, history and the countdown of the token; package step has a screen for
// each step, package walk does what the steps are about, package view draws. It starts no node and speaks no HTTP: the walk it is given does.
package tui
