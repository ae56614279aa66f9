package registry

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/certificate"
)

// ListType is the media type of the status list in the header "typ" of its JWT.
const ListType = "rin-status-list+jwt"

// List is the status list: the certificates that are valid at a time. A list of revoked certificates would be less safe: a certificate that it lacks by
// mistake would be valid.
type List struct {
	Issuer  string      `json:"iss"`
	Issued  int64       `json:"iat"`
	Expires int64       `json:"exp"`
	Night   Night       `json:"night"`
	Valid   []ListEntry `json:"valid"`
}

// ListEntry is one certificate that is valid.
type ListEntry struct {
	ID string `json:"id"`
	// Name is the name of the institution in the entry; empty without one, and in lists of older versions.
	Name string `json:"name,omitempty"`
	// Subject is the URL of the info endpoint, as in the trust mark.
	Subject string `json:"sub"`
	Status  Status `json:"status"`
	Since   Night  `json:"since"`
	Profile string `json:"profile"`
	Tested  Night  `json:"tested"`
	// Certificate is the SHA-256 digest of the certificate, in hexadecimal.
	Certificate string `json:"certificate"`
	// Ends is when the certificate reaches its maximum age; 0 in lists of older versions.
	Ends int64 `json:"ends,omitempty"`
}

// ReadList reads a status list that the key signed and that is valid at a time.
func ReadList(text string, key ed25519.PublicKey, at time.Time) (List, error) {
	var l List
	if err := certificate.ReadToken(strings.TrimSpace(text), ListType, &l, key); err != nil {
		return l, fmt.Errorf("read the status list: %w", err)
	}
	if expires := time.Unix(l.Expires, 0).UTC(); !at.Before(expires) {
		return l, fmt.Errorf("read the status list: it expired at %s", expires.Format(time.RFC3339))
	}
	return l, nil
}

// Publish makes what the operator signs from the history: the certificate, the trust mark and the badge of each node, and the status list. It may be
// repeated at any time, and completes what a killed run has begun. suite is the version of rin.
func (o Operator) Publish(h *History, key ed25519.PrivateKey, suite string) (List, error) {
	now := o.Now().UTC().Truncate(time.Second)
	l := List{Issuer: o.Policy.Operator, Issued: now.Unix(), Expires: now.Add(o.Policy.MarkAge).Unix(), Valid: []ListEntry{}}
	var err error
	if l.Night, err = h.LastNight(); err != nil {
		return l, err
	}
	if err := removeUnfinished(o.Dir.Pages(), "."); err != nil {
		return l, err
	}
	for n, err := range h.Nodes() {
		if err != nil {
			return l, err
		}
		if n.IsGone() {
			if err := os.RemoveAll(o.Dir.Public(n.ID)); err != nil {
				return l, err
			}
			continue
		}
		n.Status, n.Reason = o.Policy.Decide(n, now, o.Policy.For(n.ID).Withdrawn)
		digest, err := o.publishNode(n, key, suite, now)
		if err != nil {
			return l, fmt.Errorf("publish the node %s: %w", FileName(n.ID), err)
		}
		if n.Status.IsListed() {
			l.Valid = append(l.Valid, ListEntry{
				ID: n.ID, Name: n.Name, Subject: n.InfoURL, Status: n.Status, Since: n.Since, Profile: string(cmp.Or(n.CertifiedProfile, n.Outcome.Profile)),
				Tested: n.Tested, Certificate: digest, Ends: n.Certified.Add(o.Policy.MaxAge).Unix(),
			})
		}
	}
	public, err := certificate.WritePublicKey(key.Public().(ed25519.PublicKey))
	if err != nil {
		return l, err
	}
	if err := WriteFile(filepath.Join(o.Dir.Pages(), "operator.pub"), 0o644, public); err != nil {
		return l, err
	}
	text, err := certificate.SignToken(ListType, l, key)
	if err != nil {
		return l, err
	}
	return l, WriteFile(o.Dir.StatusList(), 0o644, []byte(text+"\n"))
}

// publishNode writes the files of a node, and returns the digest of its certificate.
func (o Operator) publishNode(n Node, key ed25519.PrivateKey, suite string, now time.Time) (string, error) {
	dir := o.Dir.Public(n.ID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := removeUnfinished(dir, "."); err != nil {
		return "", err
	}
	var digest string
	if !n.Certified.IsZero() {
		envelope, err := o.certificate(n, key, suite)
		if err != nil {
			return "", err
		}
		digest = certificate.DigestOf(envelope).SHA256
		if err := WriteFile(filepath.Join(dir, certificate.CertificateFile), 0o644, envelope); err != nil {
			return "", err
		}
	}
	mark := filepath.Join(dir, "mark.jwt")
	if n.Status.IsListed() {
		text, err := certificate.SignMark(certificate.Mark{
			Issuer: o.Policy.Operator, Subject: n.InfoURL, Type: o.Policy.Operator + "/certified", Issued: now, Expires: now.Add(o.Policy.MarkAge),
			Ref: o.Policy.Site + "/nodes/" + FileName(n.ID) + "/" + certificate.CertificateFile,
		}, key)
		if err != nil {
			return "", err
		}
		if err := WriteFile(mark, 0o644, []byte(text+"\n")); err != nil {
			return "", err
		}
	} else if err := os.Remove(mark); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return digest, WriteFile(filepath.Join(dir, "badge.svg"), 0o644, Badge(n))
}

// certificate returns the certificate of a node. It is made once, beside the files of the run that it is about.
func (o Operator) certificate(n Node, key ed25519.PrivateKey, suite string) ([]byte, error) {
	dir := o.Dir.RunDir(n.ID, n.CertifiedRun)
	path := filepath.Join(dir, certificate.CertificateFile)
	if text, err := os.ReadFile(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if err := removeUnfinished(dir, "."); err != nil {
		return nil, err
	}
	run, err := certificate.ReadRun(dir, suite)
	if err != nil {
		return nil, err
	}
	s, err := certificate.NewCertificate(run, certificate.Admission{
		Operator: o.Policy.Operator, Policy: certificate.File{Name: "registry.yaml", Content: o.Policy.Text}, Created: n.Certified, Control: !n.Control.IsZero(),
	})
	if err != nil {
		return nil, err
	}
	text, err := certificate.Sign(s.Payload(), key)
	if err != nil {
		return nil, err
	}
	return text, WriteFile(path, 0o600, text)
}

// WriteFile replaces a file, so that its path never holds half of one.
func WriteFile(path string, mode fs.FileMode, content []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// removeUnfinished removes the files that a killed process had begun in a directory by [WriteFile]. No other process may write files with the prefix there
// meanwhile.
func removeUnfinished(dir, prefix string) error {
	unfinished := regexp.MustCompile(`^\..+-[0-9]+$`)
	inside, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, d := range inside {
		if d.Type().IsRegular() && strings.HasPrefix(d.Name(), prefix) && unfinished.MatchString(d.Name()) {
			if err := os.Remove(filepath.Join(dir, d.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Badge returns a badge with the status of a node and the day on which it was last tested, as SVG. Colour is not the only signal.
func Badge(n Node) []byte {
	colours := map[Status]string{Valid: "#1a7f37", Expiring: "#7d6b00", Stale: "#59636e", Suspended: "#b42318", Withdrawn: "#59636e", Uncertified: "#59636e"}
	left, right := "research information", string(n.Status)
	if n.Tested != "" {
		right += " · " + dayOf(n.TestedAt, n.Tested)
	}
	const letter, margin = 7, 10
	a, b := len([]rune(left))*letter+2*margin, len([]rune(right))*letter+2*margin
	title := html.EscapeString(left + ": " + right)
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="22" role="img" aria-label="%[2]s">
<title>%[2]s</title>
<rect width="%[1]d" height="22" rx="4" fill="%[3]s"/>
<path d="M4 0H%[4]dV22H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z" fill="#32383f"/>
<g fill="#fff" font-family="system-ui,sans-serif" font-size="12" text-anchor="middle">
<text x="%[5]d" y="15" textLength="%[6]d">%[7]s</text>
<text x="%[8]d" y="15" textLength="%[9]d">%[10]s</text>
</g>
</svg>
`, a+b, title, colours[n.Status], a, a/2, a-2*margin, html.EscapeString(left), a+b/2, b-2*margin, html.EscapeString(right))
}
