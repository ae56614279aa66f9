package exchange

import "bytes"

// Cut ends a recording that its writer could not end: an incomplete last line goes, and the cause is written behind the rest.
// A recording that ended already is returned as it is.
func Cut(recording []byte, cause string) ([]byte, error) {
	whole := recording[:bytes.LastIndexByte(recording, '\n')+1]
	log, err := ReadLog(bytes.NewReader(whole))
	if err != nil {
		return nil, err
	}
	if log.Ended != nil {
		return whole, nil
	}
	line, err := entry{Kind: kindEnded, Ended: &Ended{Cause: cause, Requests: len(log.Exchanges)}}.line()
	if err != nil {
		return nil, err
	}
	return append(bytes.Clone(whole), line...), nil
}
