// Package registry serves the registry document (NET-R6, NET-R7), where the sandbox is listed with both of its token
// endpoints. It needs no token.
package registry
