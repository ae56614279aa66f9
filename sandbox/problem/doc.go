// Package problem makes the error bodies of the node's API: RFC 9457 problem details, one constructor for each
// kind of refusal. Each says what was wrong with the request and how to do it right; none quotes a credential. A node may
// write them in another shape.
package problem
