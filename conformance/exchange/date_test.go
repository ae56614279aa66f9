package exchange_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange"
)

var _ = Describe("Dates in header fields", func() {
	DescribeTable("HTTP dates (RFC 9110 §5.6.7)",
		func(value string, form exchange.DateForm) {
			at, got := exchange.HTTPDate(value)
			Expect(got).To(Equal(form))
			if form == exchange.NoDate {
				Expect(at.IsZero()).To(BeTrue())
			} else {
				Expect(at).To(BeTemporally("==", time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)))
			}
		},
		Entry("the preferred form", "Sun, 06 Nov 1994 08:49:37 GMT", exchange.GoodDate),
		Entry("RFC 850", "Sunday, 06-Nov-94 08:49:37 GMT", exchange.OlderDate),
		Entry("asctime", "Sun Nov  6 08:49:37 1994", exchange.OlderDate),
		Entry("another weekday", "Mon, 06 Nov 1994 08:49:37 GMT", exchange.NoDate),
		Entry("one digit", "Sun, 6 Nov 1994 08:49:37 GMT", exchange.NoDate),
		Entry("lower case", "sun, 06 nov 1994 08:49:37 gmt", exchange.NoDate),
		Entry("another zone", "Sun, 06 Nov 1994 08:49:37 UTC", exchange.NoDate),
		Entry("an offset", "Sun, 06 Nov 1994 08:49:37 +0000", exchange.NoDate),
		Entry("a fraction", "Sun, 06 Nov 1994 08:49:37.5 GMT", exchange.NoDate),
		Entry("twice", "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", exchange.NoDate),
		Entry("RFC 3339", "1994-11-06T08:49:37Z", exchange.NoDate),
		Entry("nothing", "", exchange.NoDate),
	)

	DescribeTable("the value of Deprecation (RFC 9745 §2.1)",
		func(value string, form exchange.DateForm, seconds int64) {
			at, got := exchange.DeprecationDate(value)
			Expect(got).To(Equal(form))
			if seconds != 0 {
				Expect(at.Unix()).To(Equal(seconds))
			}
		},
		Entry("the example of the RFC", "@1688169599", exchange.GoodDate, int64(1688169599)),
		Entry("before 1970", "@-1", exchange.GoodDate, int64(-1)),
		Entry("parameters", `@1;a;b=?1; c="x \"y\"";d=:aGk=:;e=*tok/en;f=-1.5;g=@2`, exchange.GoodDate, int64(1)),
		Entry("true", "true", exchange.OlderDate, int64(0)),
		Entry("a boolean of structured fields", "?1", exchange.OlderDate, int64(0)),
		Entry("an HTTP date", "Sun, 06 Nov 1994 08:49:37 GMT", exchange.OlderDate, int64(784111777)),
		Entry("false", "false", exchange.NoDate, int64(0)),
		Entry("a word", "soon", exchange.NoDate, int64(0)),
		Entry("bare seconds", "1688169599", exchange.NoDate, int64(0)),
		Entry("a fraction", "@1688169599.0", exchange.NoDate, int64(0)),
		Entry("a plus sign", "@+1", exchange.NoDate, int64(0)),
		Entry("sixteen digits", "@1234567890123456", exchange.NoDate, int64(0)),
		Entry("two", "@1, @2", exchange.NoDate, int64(0)),
		Entry("a parameter without a name", "@1;", exchange.NoDate, int64(0)),
		Entry("a parameter in capitals", "@1;A=1", exchange.NoDate, int64(0)),
		Entry("a blank before the semicolon", "@1 ;a", exchange.NoDate, int64(0)),
		Entry("a blank inside", "@ 1", exchange.NoDate, int64(0)),
		Entry("nothing", "", exchange.NoDate, int64(0)),
	)
})

func FuzzDates(f *testing.F) {
	for _, seed := range []string{"@1688169599", "@-1;a=b", "true", "?1", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "soon", "@", ";", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, read := range []func(string) (time.Time, exchange.DateForm){exchange.HTTPDate, exchange.DeprecationDate} {
			at, form := read(value)
			if form == exchange.NoDate && !at.IsZero() {
				t.Errorf("%q is no date and means %v", value, at)
			}
			if again, same := read(value); !again.Equal(at) || same != form {
				t.Errorf("%q means two things", value)
			}
		}
		if at, form := exchange.HTTPDate(value); form == exchange.GoodDate && at.Format("Mon, 02 Jan 2006 15:04:05 GMT") != value {
			t.Errorf("%q is not written as %v is", value, at)
		}
		if _, form := exchange.DeprecationDate(value); form == exchange.GoodDate && !strings.HasPrefix(strings.Trim(value, " "), "@") {
			t.Errorf("%q is a good date", value)
		}
	})
}
