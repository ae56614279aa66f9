// Package document reads the operations out of a node's OpenAPI document that has been through the guard.
//
// It also reads lists out of answers, in the envelopes that such documents describe, so that probes and requirements see the same items.
//
// It is plain data made by plain code: no library, no network, bounded work. Planning, discovery and the requirements on the
// document itself use it; judging answers against schemas is the business of conformance/openapi.
package document
