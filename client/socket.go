package client

import "strings"

// socketServer returns the address for requests to a server, and whether it was named by the address for a WebSocket.
func socketServer(address string) (string, bool) {
	for ours, theirs := range map[string]string{"ws://": "http://", "wss://": "https://"} {
		if rest, is := strings.CutPrefix(address, ours); is {
			return theirs + rest, true
		}
	}

	return address, false
}
