// Package flavour is the makes of nodes that a network has: what a node is when its operator took a well-known product instead of
// writing an authorization server and a resource server. A flavour is data: the form of its tokens, where they are asked for, and the
// habits of its answers, each of which is unusual and right. A node keeps them, whatever deviations come and go before it.
package flavour
