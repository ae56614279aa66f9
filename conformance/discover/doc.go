// Package discover finds out what a node offers: from the registry entry or the given URLs to the token and info endpoints, the
// API document, the place where its operations live, and the roles that its resources play in a certification.
//
// Everything that decides is a pure function of what was answered: reading the registry, deriving URLs, choosing candidates
// and roles. The few requests of discovery are recorded like all others; in which order they go out together with the rest
// of the run is the business of package probe.
package discover
