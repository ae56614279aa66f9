package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/registry"
)

// Validate says what of a configuration can't be, as far as that shows before a node is made of it.
func (c Config) Validate() error {
	_, err := c.complete()
	return err
}

// complete fills in the defaults and checks what can be checked alone.
func (c Config) complete() (Config, error) {
	c.Root = strings.TrimSuffix(c.Root, "/")
	if c.Member.ID == "" {
		c.Member = registry.First()
	}
	c.Prefix = orDefault(strings.Trim(c.Prefix, "/"), DefaultPrefix)
	c.Realm = orDefault(c.Realm, DefaultRealm)
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	c.Calls = orDefault(c.Calls, DefaultCalls)
	c.TokenTTL = orDefault(c.TokenTTL, DefaultTokenTTL)
	c.TokenFormat = orDefault(c.TokenFormat, orDefault(c.Flavour.Tokens, auth.ES256))
	c.Paging = orDefault(c.Paging, funding.PagingOffset)
	c.ErrorShape = orDefault(c.ErrorShape, orDefault(c.Flavour.Errors, problem.ShapeProblem))
	c.VerifiedTokens = max(orDefault(c.VerifiedTokens, DefaultVerifiedTokens), 0)
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Pause == nil {
		c.Pause = pause
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	c.Random = &oneAtATime{source: c.Random}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, errors.Join(
		checkRoot(c.Root),
		checkSegments("service prefix", strings.Split(c.Prefix, "/")),
		checkSegments("realm", []string{c.Realm}),
		checkPublicURL(c.PublicURL),
		checkChoice("token format", c.TokenFormat, auth.Formats()),
		checkChoice("paging", c.Paging, []funding.Paging{funding.PagingOffset, funding.PagingNumber}),
		checkChoice("error shape", c.ErrorShape, problem.Shapes()),
	)
}

// pause waits in real time.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// checkSegments allows the characters that need no escape in a path (RFC 3986 §2.3), and no dots alone.
func checkSegments(what string, segments []string) error {
	for _, segment := range segments {
		wrong := strings.IndexFunc(segment, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~", r))
		})
		if segment == "" || len(segment) > 64 || wrong >= 0 || strings.Trim(segment, ".") == "" {
			return fmt.Errorf("%s %q: want path segments of letters, digits, '-', '_', '.' and '~'", what, segment)
		}
	}
	return nil
}

func checkRoot(root string) error {
	if root == "" {
		return nil
	}
	below, absolute := strings.CutPrefix(root, "/")
	if !absolute {
		return fmt.Errorf("root %q: want a path that begins with a slash, such as /xb", root)
	}
	return checkSegments("root", strings.Split(below, "/"))
}

func checkPublicURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("public URL %q: want an absolute http or https URL without user, query and fragment, such as https://node.example", text)
	}
	return nil
}

func checkChoice[T ~string](what string, value T, allowed []T) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s %q: want one of %v", what, value, allowed)
}

// oneAtATime lets goroutines share a source of randomness that may not be safe for it.
type oneAtATime struct {
	mu     sync.Mutex
	source io.Reader
}

// Read implements io.Reader.
func (o *oneAtATime) Read(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.source.Read(p)
}
