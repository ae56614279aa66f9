package probe

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// letters are what random secrets are made of.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// wrongSecret is a secret of the same length in bytes: the first half kept, the case of the letters in the rest swapped; random
// letters in the rest if nothing changes by that. One attempt thus finds a secret that is ignored, compared by its beginning, or
// compared without case.
func wrongSecret(secret string, random io.Reader) (string, error) {
	wrong := []byte(secret)
	rest := wrong[len(wrong)/2:]
	changed := false
	for i, b := range rest {
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' {
			rest[i], changed = b^0x20, true
		}
	}
	if changed {
		return string(wrong), nil
	}
	if _, err := io.ReadFull(random, rest); err != nil {
		return "", err
	}
	for i, b := range rest {
		rest[i] = letters[int(b)%len(letters)] // there was no letter before
	}
	return string(wrong), nil
}

// tampered is a token with one character in the middle of its last segment that is not empty replaced. The last character is
// left alone: its low bits may be padding (RFC 4648 §3.5), and the token would stay what it was.
func tampered(token string) string {
	end := len(strings.TrimRight(token, "."))
	start := strings.LastIndexByte(token[:end], '.') + 1
	if end == 0 {
		return token + "A"
	}
	middle := start + (end-start)/2
	other := byte('A')
	if token[middle] == other {
		other = 'B'
	}
	return token[:middle] + string(other) + token[middle+1:]
}

// uuid is a random version 4 UUID (RFC 9562 §5.4).
func uuid(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
}

// basic is the value of an Authorization header (RFC 7617 §2).
func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

// drawn are the random values of a run, drawn before anything is sent, so that the same random bytes give the same requests.
type drawn struct {
	id          string // names what the node cannot know: clients, items, query parameters
	wrongSecret string
}

func draw(secret string, random io.Reader) (drawn, error) {
	id, err := uuid(random)
	if err != nil {
		return drawn{}, fmt.Errorf("draw the id of the run: %w", err)
	}
	wrong, err := wrongSecret(secret, random)
	if err != nil {
		return drawn{}, fmt.Errorf("draw a wrong secret: %w", err)
	}
	return drawn{id, wrong}, nil
}
