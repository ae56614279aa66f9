// Package setup makes the configuration of a network of sandbox nodes: from a number of nodes, which then differ as members of a network
// do, or from a file that says of each what it is.
package setup
