// Package control is the second listener of a sandbox, for the one who runs it: switch deviations, play scenarios, move the time, put
// everything back. It is plain JSON over HTTP on loopback, never exists unless asked for, and refuses whatever a browser sends on behalf of a page.
//
// [New] makes its handler, [Client] speaks to it. A topic has one file with its messages, its routes and its calls.
package control
