package recording

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// kind says what a text is; each kind is redacted in another way.
type kind int

const (
	plain          kind = iota
	givenName           // a first name
	familyName          // a last name
	fullName            // a name of a person
	loginName           // the name of an account
	personalNumber      // a telephone number, or an identifier of a person
	secret              // a token or a password
)

// kindOf returns the kind of the text in a member, by the member's name. person reports that the object with the member describes a person.
func kindOf(member string, person bool) kind {
	switch name := canonical(member); name {
	case "firstname", "givenname", "forename", "givennames", "firstnames", "middlename", "vorname":
		return givenName
	case "lastname", "familyname", "surname", "familynames", "lastnames", "nachname", "familienname", "maidenname", "birthname":
		return familyName
	case "fullname", "personname", "contactname", "authorname", "creatorname", "ownername", "applicantname", "createdby", "modifiedby", "updatedby",
		"lastmodifiedby", "changedby", "editedby", "submittedby", "approvedby":
		return fullName
	case "username", "login", "loginname", "userid":
		return loginName
	case "phone", "telephone", "tel", "mobile", "mobilephone", "phonenumber", "telephonenumber", "fax", "faxnumber", "telefon", "handy", "orcid", "orcidid":
		return personalNumber
	case "token", "accesstoken", "refreshtoken", "idtoken", "bearertoken", "apikey", "apitoken", "secret", "clientsecret", "password", "passwd", "passwort",
		"authorization", "sessionid", "sessiontoken", "privatekey":
		return secret
	case "name", "displayname", "label":
		if person {
			return fullName
		}
	}
	return plain
}

// isPerson reports whether a member has a name that says that its value describes persons.
func isPerson(member string) bool {
	name := canonical(member)
	singular := strings.TrimSuffix(name, "s")
	return slices.ContainsFunc([]string{name, singular}, func(n string) bool {
		return slices.Contains([]string{"person", "people", "contact", "contactperson", "applicant", "author", "creator", "contributor", "investigator", "coinvestigator",
			"principalinvestigator", "researcher", "employee", "staff", "user", "supervisor", "reviewer", "projectleader", "projectmanager", "coordinator",
			"responsible", "responsibleperson", "ansprechpartner", "ansprechperson", "editor", "speaker", "student", "tutor", "lecturer", "teacher", "candidate"}, n)
	})
}

// describesPerson reports whether an object has members that only persons have.
func describesPerson(object map[string]any) bool {
	for member := range object {
		if k := kindOf(member, false); k == givenName || k == familyName || canonical(member) == "orcid" {
			return true
		}
	}
	return false
}

// looksLikePerson reports whether a text may be the name of a person, and not of an office.
func (n nameForms) looksLikePerson(text string) bool {
	words := n.words(text)
	if len(words) == 0 || len(words) > 5 || len(text) > 80 || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune("@/\\:;<>{}", r) }) {
		return false
	}
	return !slices.ContainsFunc(words, func(w string) bool { return n.office.MatchString(w) })
}

// nameForms recognises the names of persons.
type nameForms struct{ pattern, office *regexp.Regexp }

func newNameForms() nameForms {
	return nameForms{pattern: regexp.MustCompile(`\p{L}[\p{L}\p{M}'’-]*`), office: regexp.MustCompile(`(?i)^(team|office|service|services|support|help|helpdesk|desk|department|dept|division|unit|group|center|centre|university|universität|institute?|` +
		`faculty|fakultät|abteilung|referat|büro|stelle|rektorat|zentrum|fonds?|foundation|agency|agentur|ministry|research|forschung|info|information|system|admin|` +
		`administration|administrator|secretariat|sekretariat|gmbh|ltd|the|for|für|und|and|of|der|die|das)$`)}
}

// isTitle reports whether a word is a title or a particle, which are kept.
func isTitle(word string) bool {
	return slices.Contains([]string{"dr", "prof", "professor", "mag", "dipl", "ing", "di", "phd", "msc", "bsc", "ma", "ba", "mba", "llm", "univ", "priv", "doz", "dozent",
		"mr", "mrs", "ms", "miss", "sir", "herr", "frau", "von", "van", "de", "der", "den", "zu", "zur", "vom", "di", "da", "del", "della", "la", "le", "du", "bin", "al"}, strings.ToLower(word))
}

// words returns the words of a name without titles and particles.
func (n nameForms) words(text string) []string {
	return slices.DeleteFunc(n.pattern.FindAllString(text, 20), isTitle)
}

// split returns the given and the family names in the name of a person: "Jane Doe", or "Doe, Jane".
func (n nameForms) split(text string) (givenNames, familyNames []string) {
	if before, after, inverted := strings.Cut(text, ","); inverted && len(n.words(after)) > 0 {
		return n.words(after), n.words(before)
	}
	words := n.words(text)
	if len(words) == 0 {
		return nil, nil
	}
	return words[:len(words)-1], words[len(words)-1:]
}

// pseudonyms makes up values. With the same key, equal values give equal made-up values.
type pseudonyms struct{ key []byte }

func (p pseudonyms) digest(purpose, value string) []byte {
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte(purpose + "\x00" + value))
	return mac.Sum(nil)
}

// fingerprint identifies a value under the key.
func (p pseudonyms) fingerprint(value string) string {
	return hex.EncodeToString(p.digest("fingerprint", value)[:8])
}

// word makes up a name of three syllables, so that two names are hardly ever the same.
func (p pseudonyms) word(original string) string {
	onsets := strings.Split("b d f g h j k l m n p r s t v w br dr gr kr st tr", " ")
	vowels := strings.Split("a e i o u", " ")
	codas := strings.Split("n r l s m t k x nd rn", " ")
	digest := p.digest("word", strings.ToLower(original))
	pick := func(i int, from []string) string {
		return from[int(binary.BigEndian.Uint16(digest[2*i:]))%len(from)]
	}
	name := pick(0, onsets) + pick(1, vowels) + pick(2, onsets[:16]) + pick(3, vowels) + pick(4, onsets[:16]) + pick(5, vowels) + pick(6, codas)
	switch {
	case original == strings.ToUpper(original) && len([]rune(original)) > 1:
		return strings.ToUpper(name)
	case original == strings.ToLower(original):
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// mail makes up a mail address, in a domain that is reserved for examples (RFC 2606).
func (p pseudonyms) mail(original string) string {
	return "mail-" + hex.EncodeToString(p.digest("mail", strings.ToLower(original))[:6]) + "@example.org"
}

// shape replaces letters by letters and digits by digits, so that length, case and punctuation stay.
func (p pseudonyms) shape(original string) string {
	var b strings.Builder
	var stream []byte
	for i, r := range original {
		if len(stream) == 0 {
			stream = p.digest("shape"+string(rune('0'+i%64)), original)
		}
		c := rune(stream[0])
		stream = stream[1:]
		switch {
		case r == '0':
			b.WriteRune('0')
		case r >= '1' && r <= '9':
			b.WriteRune('1' + c%9)
		case r >= 'a' && r <= 'z':
			b.WriteRune('a' + c%26)
		case r >= 'A' && r <= 'Z':
			b.WriteRune('A' + c%26)
		case unicode.IsLetter(r) && unicode.IsUpper(r):
			b.WriteRune('A' + c%26)
		case unicode.IsLetter(r):
			b.WriteRune('a' + c%26)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// token returns the pseudonym of a token. Equal tokens have equal pseudonyms.
func (p pseudonyms) token(original string) string {
	return "redacted-" + hex.EncodeToString(p.digest("token", original)[:6])
}
