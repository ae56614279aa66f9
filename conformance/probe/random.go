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

// wrongSecret is the secret with one thing changed: the case of the letter nearest to its middle, or a random letter in the middle of
// one that has none. One attempt thus finds a secret that is ignored, compared by its beginning, by its end, or without case.
func wrongSecret(secret string, random io.Reader) (string, error) {
	wrong := []byte(secret)
	middle := len(wrong) / 2
	if i, found := letterNear(secret, middle); found {
		wrong[i] ^= 0x20
		return string(wrong), nil
	}
	if len(wrong) == 0 {
		return "", nil
	}
	var b [1]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	wrong[middle] = letters[int(b[0])%len(letters)] // there was no letter before
	return string(wrong), nil
}

// tampered is a token with one character in the middle of its last segment that is not empty changed: the case of the letter that
// stands nearest there, so that one request finds a signature that is not verified, one compared by its beginning and one compared
// without case. The last character is left alone: its low bits may be padding (RFC 4648 §3.5), and the token would stay what it was.
func tampered(token string) string {
	end := len(strings.TrimRight(token, "."))
	start := strings.LastIndexByte(token[:end], '.') + 1
	if end == 0 {
		return token + "A"
	}
	middle := start + (end-start)/2
	if i, found := letterNear(token[start:end-1], middle-start); found {
		middle = start + i
		return token[:middle] + string(rune(token[middle]^0x20)) + token[middle+1:]
	}
	other := byte('A')
	if token[middle] == other {
		other = 'B'
	}
	return token[:middle] + string(other) + token[middle+1:]
}

// letterNear finds the letter of a text that stands nearest to a place.
func letterNear(text string, at int) (i int, found bool) {
	isLetter := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z')
	}
	for d := range len(text) + 1 {
		for _, i := range []int{at - d, at + d} {
			if isLetter(i) {
				return i, true
			}
		}
	}
	return 0, false
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
