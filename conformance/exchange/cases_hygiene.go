package exchange

// API is the place where operations live as a whole; it is asked for what belongs to no operation.
const API Resource = "api"

// Cases of other ways in, error shapes and versions.
const (
	SessionCookie   Case = "session-cookie"    // SEC-01: the cookies of the good call, no Authorization; Given cookies, their names
	IdentityHeaders Case = "identity-headers"  // SEC-02: all headers below together, no Authorization
	ForwardedUser   Case = "forwarded-user"    // SEC-02: X-Forwarded-User alone; this and the next only when all together got data
	RemoteUser      Case = "remote-user"       // SEC-02: X-Remote-User alone
	ForwardedFor    Case = "forwarded-for"     // SEC-02: X-Forwarded-For alone
	OriginalURL     Case = "original-url"      // SEC-02: X-Original-URL alone
	AuthRequestUser Case = "auth-request-user" // SEC-02: X-Auth-Request-User alone
	RealIP          Case = "real-ip"           // SEC-02: X-Real-IP alone
	OriginAlone     Case = "origin-alone"      // SEC-02: the Origin of a page elsewhere, no Authorization; sent in any case, since CORS may refuse it
	ForeignOrigin   Case = "foreign-origin"    // SEC-03: the good call with the Origin of a page elsewhere
	LookalikeOrigin Case = "lookalike-origin"  // SEC-03: the good call with an Origin that begins like the node's own
	Preflight       Case = "preflight"         // SEC-03: OPTIONS of the token endpoint from that page, without credentials
	UnknownPath     Case = "unknown-path"      // ERR-01: a path that no operation has
	UnknownVersion  Case = "unknown-version"   // VER-02: the info URL with v999 in place of its version
)
