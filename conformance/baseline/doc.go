// Package baseline reads and writes the failures that a node's operator knows of: each with a reason and a day on which the excuse ends.
// A pipeline that is given a baseline fails on what is new, on what is mended and still listed, and on what has expired; what it says
// is never a certificate.
//
//	schema: rin.baseline/v1
//	known:
//	  - id: BRR-02
//	    reason: the gateway drops WWW-Authenticate, ticket NET-42
//	    until: 2026-12-31
package baseline
