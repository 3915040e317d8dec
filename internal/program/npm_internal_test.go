package program

import "testing"

// TestNPM: of what npm writes, the first line that says what went wrong is quoted, not the last, which names a file.
func TestNPM(t *testing.T) {
	t.Parallel()
	const log = "npm error A complete log of this run can be found in: /home/ada/.npm/_logs/debug-0.log\n"
	for text, want := range map[string]string{
		"npm error code E404\nnpm error 404 Not Found - GET https://packages.example/nothere\nnpm error 404\nnpm error 404  'nothere@*' is not in this registry.\n" + log: "npm error 404 Not Found - GET https://packages.example/nothere",
		"npm warn exec installing\nnpm error code ENOENT\nnpm error syscall open\nnpm error path /x/package.json\nnpm error errno -2\n" +
			"npm error enoent Could not read package.json\n" + log: "npm error enoent Could not read package.json",
		"npm ERR! code EAI_AGAIN\nnpm ERR! syscall getaddrinfo\nnpm ERR! request to https://packages.example/x failed\n": "npm ERR! request to https://packages.example/x failed",
		"npm error code E404\n":              "npm error code E404",
		"npm warn deprecated x\nno key\n":    "no key",
		"the server says\nnpm errors here\n": "npm errors here",
		"":                                   "",
	} {
		all := newTail(nil)
		_, _ = all.Write([]byte(text))
		if got := all.last(); got != want {
			t.Errorf("of %q it quotes %q, want %q", text, got, want)
		}
	}
}
