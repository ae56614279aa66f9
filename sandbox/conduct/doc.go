// Package conduct judges clients by what a journal remembers of them: which rules of the network and of OAuth they broke, what they
// do that is legal and wasteful, and how to do it right.
//
// A rule is a value in the table of its group's file, with an id that never changes: CLT-01. Its check is a pure function of the
// requests of one client. [Judge] makes the report of all clients.
package conduct
