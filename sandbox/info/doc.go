// Package info serves the info resource of a node (NET-R13): the map of its endpoints, and the test whether a token
// works. It needs a token, and no role.
package info
