// Package target describes which node is to be certified, with which credentials, and how much load the run may put on it.
//
// A [Target] is plain data, made from the operator's flags before anything is sent. [Target.Validate] checks it as a whole and
// reports all mistakes at once, each with the flag to correct. Its secrets travel only as JSON to the worker's stdin: formatters
// and loggers do not see the text of a [Secret].
package target

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
)

// Target holds everything that the operator chose for a run. Its JSON contains the secrets.
type Target struct {
	// Registry is the URL of the registry document; RegistryDocument is its content when it was read from a file.
	Registry         string `json:"registry,omitempty"`
	RegistryDocument []byte `json:"registryDocument,omitempty"`
	// Operator names who runs the test, for the report; empty if they did not say.
	Operator string `json:"operator,omitempty"`
	// NodeID is the id of the node's entry in the registry.
	NodeID string `json:"nodeId,omitempty"`

	// TokenURL, InfoURL, SpecURL and BaseURL are needed without a registry; with one, they override the URLs of its entry.
	TokenURL string `json:"tokenUrl,omitempty"`
	InfoURL  string `json:"infoUrl,omitempty"`
	SpecURL  string `json:"specUrl,omitempty"`
	BaseURL  string `json:"baseUrl,omitempty"`

	Credentials Credentials `json:"credentials"`
	// Second is a client without the role EXTERNAL_API_CLIENT; nil without one.
	Second *Credentials `json:"second,omitempty"`
	// Other is a client of the same authorization server whose tokens are meant for another audience; nil without one.
	Other *Credentials `json:"other,omitempty"`
	// Spare is a client that may be locked out, on which wrong secrets are tried; nil without one.
	Spare *Credentials `json:"spare,omitempty"`
	// Staging is the operator's staging environment; nil without one.
	Staging *Staging `json:"staging,omitempty"`
	// ExpiredToken is an access token that the first client was issued and that has expired since.
	ExpiredToken Secret `json:"expiredToken,omitzero"`

	// Profile is "auth", "api", "funding" or "full". ProfileReason says why rin chose it; it is empty if the operator did.
	Profile       string `json:"profile"`
	ProfileReason string `json:"profileReason,omitempty"`
	// ListOperation and DetailOperation name operations by operationId, "GET /path" or path, when rin cannot find them itself.
	ListOperation   string `json:"listOperation,omitempty"`
	DetailOperation string `json:"detailOperation,omitempty"`

	// Values are the operator's values of parameters that rin cannot find by itself, by the name of the parameter.
	Values map[string]string `json:"values,omitempty"`
	// DocumentFile is the source of the node's document in the operator's repository; nil if none was named.
	DocumentFile *evidence.DocumentFile `json:"documentFile,omitempty"`
	// Gaps are the operations that the operator accepts as not called.
	Gaps []evidence.Gap `json:"gaps,omitempty"`

	Politeness Politeness `json:"politeness"`
	// Polite asks for the gentlest run: one request at a time, one a second.
	Polite bool `json:"polite,omitempty"`
	// Blind sends an ordinary client's headers: the node cannot tell from them that it is tested. It is allowed only on loopback or with Consent, which means
	// that the node's operator agreed and the operator of the registry recorded that.
	Blind   bool `json:"blind,omitempty"`
	Consent bool `json:"consent,omitempty"`
	// Effort says how much is asked; empty is [draw.Standard].
	Effort draw.Effort `json:"effort,omitempty"`
	// Budget is the largest number of requests of a run of effort [draw.Deep]; 0 is [DefaultBudget].
	Budget int `json:"budget,omitempty"`
	// Seed chooses what is drawn; 0 lets the run draw a seed. Earlier holds what earlier runs at the node drew, see [draw.Choice].
	Seed    draw.Seed           `json:"seed,omitempty"`
	Earlier map[string][]string `json:"earlier,omitempty"`
	// Only lists the requirement ids of a partial run.
	Only []string `json:"only,omitempty"`
	// Failed lists those requirements of Only that failed, or had a warning, in the run that this one repeats.
	Failed []string `json:"failed,omitempty"`
	// Labels are further requests of a partial run: those that showed the faults of an earlier one.
	Labels []evidence.Label `json:"labels,omitempty"`
	// ChosenBy names the flags that filled Only, for the report; empty means --only.
	ChosenBy string `json:"chosenBy,omitempty"`
	// Wait is how long the run may wait for a token to expire. Nil is [DefaultWait] for the profile full without an expired token, and 0
	// otherwise.
	Wait *time.Duration `json:"waitNs,omitempty"`
	// AllowTokenInURL lets the run put an access token into a URL, AllowSecretInURL the secret of the first client; both end up in
	// the access logs of the node.
	AllowTokenInURL  bool `json:"allowTokenInUrl,omitempty"`
	AllowSecretInURL bool `json:"allowSecretInUrl,omitempty"`
	// BruteForce is what the operator attests about brute-force protection, which must not be probed; nil without an attestation.
	BruteForce *evidence.Attestation `json:"bruteForce,omitempty"`

	// AllowOrigins are further origins that may receive a token or secret, "https://host" or "https://host:port".
	AllowOrigins []string `json:"allowOrigins,omitempty"`
	// CACert holds the certificate authorities to trust besides the system's, PEM.
	CACert []byte `json:"caCert,omitempty"`
}

// Staging is the token endpoint of a staging environment, with a client that is registered there and nowhere else. No other
// secret or token is ever sent to it.
type Staging struct {
	TokenURL    string      `json:"tokenUrl"`
	Credentials Credentials `json:"credentials"`
}

// Politeness bounds the load that a run puts on a node.
type Politeness struct {
	// Rate is the number of requests a second; 0 is unlimited.
	Rate float64 `json:"rate"`
	// Concurrency is the number of requests at a time, except in the few bursts that find confused callers.
	Concurrency int `json:"concurrency"`
	// Timeout bounds one request, Deadline the whole run.
	Timeout  time.Duration `json:"timeoutNs"`
	Deadline time.Duration `json:"deadlineNs"`
}

// The limits of a run unless its operator says otherwise.
const (
	LoopbackConcurrency = 8
	RemoteRate          = 4.0
	RemoteConcurrency   = 2
	DefaultTimeout      = 35 * time.Second
	DefaultDeadline     = 10 * time.Minute
	// DefaultBudget is the largest number of requests of a deep run.
	DefaultBudget = 4000
	// DefaultWait is how long a run for the profile full waits for a token to expire.
	DefaultWait = 10 * time.Minute
)

// Defaults returns the target with defaults for everything that the operator did not choose: the limits depend on whether the node is on
// this machine, the profile on whether the URL of an OpenAPI document is known and which clients were given. Rate and concurrency stay unset
// until the node's URLs are known.
func (t Target) Defaults() Target {
	if t.Profile == "" || t.ProfileReason != "" { // rin chooses again, since more URLs may be known than at its first choice
		t.Profile, t.ProfileReason = t.largestProfile()
	}
	if t.TokenURL != "" && t.InfoURL != "" {
		t.Politeness = t.Politeness.withDefaults(t.Loopback(), t.Polite)
	}
	t.Effort = cmp.Or(t.Effort, draw.Standard)
	if t.Effort == draw.Deep {
		t.Budget = cmp.Or(t.Budget, DefaultBudget)
	}
	t.Politeness.Timeout = cmp.Or(t.Politeness.Timeout, DefaultTimeout)
	if t.Wait == nil && t.Profile == "full" && t.ExpiredToken.IsZero() {
		t.Wait = new(DefaultWait)
	}
	t.Politeness.Deadline = cmp.Or(t.Politeness.Deadline, DefaultDeadline+t.Patience())
	return t
}

// largestProfile chooses the largest profile that the document and the inputs call for, and says why.
func (t Target) largestProfile() (profile, reason string) {
	if t.SpecURL == "" {
		return "auth", "the node's document is not known (--spec-url)"
	}
	var missing []string
	for _, input := range []struct {
		flag  string
		given bool
	}{
		{"--client-id2", t.Second != nil}, {"--other-client-id", t.Other != nil}, {"--staging-token-url", t.Staging != nil},
		{"--expired-token or --wait", !t.ExpiredToken.IsZero() || t.Wait != nil && *t.Wait > 0},
	} {
		if !input.given {
			missing = append(missing, input.flag)
		}
	}
	if len(missing) == 0 {
		return "full", "a document and every input of the profile full were given"
	}
	return "funding", "a document is known; full also needs " + strings.Join(missing, ", ")
}

// WithoutDocument returns the target for a node that turned out to have no document and no funding API, if rin chose the profile.
func (t Target) WithoutDocument() Target {
	if t.ProfileReason != "" {
		t.Profile, t.ProfileReason = "auth", "there is no document at "+t.SpecURL+", and info lists no funding API"
	}
	return t
}

// WantsFunding reports whether the profile asks for an API with funding calls.
func (t Target) WantsFunding() bool { return t.Profile == "funding" || t.Profile == "full" }

// WithoutFunding returns the target for a node whose document describes lists, but none of funding calls, if rin chose the profile.
func (t Target) WithoutFunding() Target {
	if t.ProfileReason != "" && t.WantsFunding() {
		t.Profile, t.ProfileReason = "api", "the document describes no operation that lists funding calls"
	}
	return t
}

// Quick reports whether the run asks as little as possible.
func (t Target) Quick() bool { return t.Effort == draw.Quick }

// Patience returns how long the run may wait for a token to expire. If an expired token was given, the run waits only if the operator set Wait.
func (t Target) Patience() time.Duration {
	if t.Wait == nil {
		return 0
	}
	return *t.Wait
}

// withDefaults returns the politeness with rate and concurrency filled in.
func (p Politeness) withDefaults(loopback, polite bool) Politeness {
	switch {
	case polite:
		p.Rate, p.Concurrency = 1, 1
	case loopback:
		p.Concurrency = cmp.Or(p.Concurrency, LoopbackConcurrency)
	default:
		p.Rate, p.Concurrency = cmp.Or(p.Rate, RemoteRate), cmp.Or(p.Concurrency, RemoteConcurrency)
	}
	return p
}

// Loopback reports whether every URL of the target is on this machine. A registry on this machine proves nothing about its
// nodes: such a target is on loopback only once the entry's URLs are filled in.
func (t Target) Loopback() bool {
	emptyOrLoopback := func(text string) bool { return text == "" || isLoopbackURL(text) }
	return isLoopbackURL(t.TokenURL) && isLoopbackURL(t.InfoURL) && emptyOrLoopback(t.SpecURL) && emptyOrLoopback(t.BaseURL)
}

// Origins lists the origins that may receive a token or secret, in the order named, without repeats: those of the node's own
// URLs and those that were allowed. The registry's origin is not among them.
func (t Target) Origins() []string {
	var out []string
	for _, text := range append([]string{t.TokenURL, t.InfoURL, t.SpecURL, t.BaseURL}, t.AllowOrigins...) {
		if o := evidence.OriginOf(text); o != "" && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// String names the node without any secret.
func (t Target) String() string {
	if t.NodeID != "" && t.TokenURL == "" {
		return fmt.Sprintf("node %s of the registry", t.NodeID)
	}
	return fmt.Sprintf("node with info endpoint %s and token endpoint %s", t.InfoURL, t.TokenURL)
}

// LogValue implements slog.LogValuer: a JSON handler would otherwise encode the secrets.
func (t Target) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("registry", t.Registry), slog.String("nodeId", t.NodeID),
		slog.String("tokenUrl", t.TokenURL), slog.String("infoUrl", t.InfoURL),
		slog.String("specUrl", t.SpecURL), slog.String("baseUrl", t.BaseURL),
		slog.String("profile", t.Profile), slog.Any("credentials", t.Credentials),
	)
}

func isLoopbackURL(text string) bool { return evidence.LoopbackHost(evidence.HostOf(text)) }
