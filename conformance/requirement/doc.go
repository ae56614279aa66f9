// Package requirement is the catalogue of what a node must do, and the checks that judge recorded evidence.
//
// A [Requirement] is a value in the table of its group's file, in the order of the catalogue. Its check is a pure function of
// [Evidence]: it asks nothing of the network, so live and offline judging are the same code. [Judge] applies dependencies,
// missing exchanges and positive controls in one place; a check only says what it saw.
package requirement
