// Package walk is the way from the registry to the first funding call, one step at a time: what each step is for, what it sends, and what
// the answers mean. It has no screen: the terminal interface and the plain mode both show its scenes.
//
// Requests go out and are judged as in a certification: by the recorder, and by the requirements of the catalogue, on the evidence of
// this walk.
package walk
