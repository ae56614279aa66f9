package sandbox

// Addresses are where the parts of a node are: absolute URLs, as a caller sees them.
type Addresses struct {
	// Token and RealmToken are the two token endpoints (NET-R10). Listed is the one that the registry has, the first one if it has both.
	Token, RealmToken, Listed string
	// StagingToken is the token endpoint of the staging environment.
	StagingToken string
	// Info is the info resource, Spec the OpenAPI document, Fundings the list (NET-R13, NET-R14).
	Info, Spec, Fundings string
	// Base is the base URL of the API, TryOut that of the try-out space: a client changes nothing else (NET-R4).
	Base, TryOut string
	// TryOutFundings is the list without a token.
	TryOutFundings string
	// Registry is the registry document, which lists the node (NET-R6).
	Registry string
	// Home is the start page, Docs the reference page (NET-R3): for people.
	Home, Docs string
}

// Addresses returns where everything is for callers who reach the node at origin, such as "http://127.0.0.1:8080".
// The configured public URL takes precedence.
func (s *Server) Addresses(origin string) Addresses {
	if s.places.PublicURL != "" {
		origin = s.places.PublicURL
	}
	p := s.places
	return Addresses{
		Token: origin + p.Token(), RealmToken: origin + p.RealmToken(), Listed: origin + p.Listed().Token,
		StagingToken: origin + p.Staging().Token(), Info: origin + p.Info(), Spec: origin + p.Spec(),
		Fundings: origin + p.Fundings(), Base: origin + p.API(), TryOut: origin + p.TryOut().API(), TryOutFundings: origin + p.TryOut().Fundings(), Registry: origin + p.Registry(),
		Home: origin + p.Home(), Docs: origin + p.Docs(),
	}
}
