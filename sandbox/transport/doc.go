// Package transport gives a sandbox TLS: a certificate authority that is made on the spot, a certificate for the hosts it is
// reached by, issued by an intermediate as those of public authorities are, and a listener that speaks HTTP/2 and HTTP/1.1.
//
// The keys live as long as the process; nobody else can issue certificates with them. [Settings] hold what a deviation may change.
package transport
