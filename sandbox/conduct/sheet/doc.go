// Package sheet writes a report on clients for people: at a terminal, in a browser, and as JSON for programs. Whatever clients sent is
// foreign text: it can neither move a cursor, nor become markup, nor show another text than the one that is there.
package sheet
