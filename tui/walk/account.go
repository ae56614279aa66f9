package walk

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
)

// Account is what a person holds of a node: the client, and for the mistakes that are made on purpose a second one without the role and a
// token that has expired.
type Account struct {
	First   target.Credentials
	Second  *target.Credentials
	Expired target.Secret
}

// Account is what the walk presents at its node.
func (w *Walk) Account() Account {
	t := w.Target()
	return Account{t.Credentials, t.Second, t.ExpiredToken}
}

// Present makes the account that of the walk, at this node. A token that was issued to another one is forgotten.
func (w *Walk) Present(a Account) {
	t := w.Target()
	t.Credentials, t.Second, t.ExpiredToken = a.First, a.Second, a.Expired
	w.Aim(t)
}

// elsewhere is a target that keeps nothing of the node that was aimed at: a secret is for the node that issued it, and no other sees it.
func elsewhere(t target.Target) target.Target {
	return target.Target{CACert: t.CACert, AllowOrigins: t.AllowOrigins, Politeness: t.Politeness}
}

// remembered gives a target the account that was presented at its token URL before; else, where only the path of the URL was mended, the one
// of the present target.
func (w *Walk) remembered(t target.Target) target.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, known := w.accounts[t.TokenURL]
	if !known && sameOrigin(t.TokenURL, w.target.TokenURL) {
		a = Account{w.target.Credentials, w.target.Second, w.target.ExpiredToken}
	}
	t.Credentials, t.Second, t.ExpiredToken = a.First, a.Second, a.Expired
	return t
}

func sameOrigin(a, b string) bool {
	x, err := url.Parse(a)
	y, fault := url.Parse(b)
	return err == nil && fault == nil && x.Host != "" && exchange.Origin(x) == exchange.Origin(y)
}

// LookAt turns to another registry: its URL, or its document when it is a file.
func (w *Walk) LookAt(address string, document []byte) error {
	t := elsewhere(w.Target())
	t.Registry, t.RegistryDocument = address, document
	if err := Misplaced("--registry", address, t.AllowOrigins); address != "" && err != nil {
		return err
	}
	w.Aim(t)
	return nil
}

// GoTo aims at a node by its URLs; the one of the specification may be empty.
func (w *Walk) GoTo(tokenURL, infoURL, specURL string) error {
	t := elsewhere(w.Target())
	t.TokenURL, t.InfoURL, t.SpecURL = tokenURL, infoURL, specURL
	err := errors.Join(Misplaced("--token-url", tokenURL, t.AllowOrigins), Misplaced("--info-url", infoURL, t.AllowOrigins))
	if specURL != "" {
		err = errors.Join(err, Misplaced("--spec-url", specURL, t.AllowOrigins))
	}
	if err != nil {
		return err
	}
	w.Aim(Derived(w.remembered(t)))
	return nil
}

// Misplaced says what is wrong with a URL, in the words that the flag of the same meaning would be answered with; nil when it can be used.
// Origins are those that may be reached without TLS.
func Misplaced(flag, text string, origins []string) error {
	t := target.Target{AllowOrigins: origins}
	switch flag {
	case "--registry":
		t.Registry = text
	case "--token-url":
		t.TokenURL = text
	case "--info-url":
		t.InfoURL = text
	case "--spec-url":
		t.SpecURL = text
	}
	joined, ok := t.Validate().(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, err := range joined.Unwrap() {
		var p *target.Problem
		if errors.As(err, &p) && p.Flag == flag {
			return fmt.Errorf("%s: %s", strings.TrimSuffix(p.Message, "."), p.Hint)
		}
	}
	return nil
}
