// Package forge makes tokens that a resource server must refuse, and verifies real ones with published keys.
//
// Everything in it is a pure function of a good token, keys and a clock; nothing is sent from here. Forged tokens name hosts of the
// reserved domain .invalid only (RFC 2606 §2), so that no server can be led to fetch anything.
package forge
