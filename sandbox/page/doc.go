// Package page makes the pages of a node that people read in a browser: the reference of its APIs with try-out (NET-R3, NET-R4), and the
// start page, which says where everything is.
//
// The pages work offline and under a strict Content-Security-Policy: each script and style is a file of its own, from this node. The
// reference is Swagger UI, unchanged, with an index page, a style and a start script of our own around it.
package page
