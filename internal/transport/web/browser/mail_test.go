package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// mailTools is a tool that sends a mail, as a reviewed file of tools declares it: it cannot be undone.
const mailTools = `command:
  target: mail
  operations:
    - tool: mail.send
      description: Send a mail.
      class: irreversible
      risk: high
      program: /bin/echo
      argv: ["{to}", "{subject}"]
      stdin: "{text}"
      parameters:
        type: object
        properties:
          to: { type: string }
          subject: { type: string }
          text: { type: string }
        required: [to, text]
      consent:
        action: "Send a mail to {to}."
        consequence: A mail that was sent cannot be called back.
        facts: { to: { text: /to } }
      doing: { text: Sending the mail. }
      result: { success: The mail is sent. }
`

// serveMail starts the program with the tool that sends mails, and with what else its command line is to say.
func serveMail(t *testing.T, more ...string) *server {
	t.Helper()
	s := prepare(t, 1)
	file := filepath.Join(s.home, "mail.yaml")
	must(t, os.WriteFile(file, []byte(mailTools), 0o600))
	s.args = append([]string{"--tools", file}, more...)
	s.start()
	return s
}

// mail asks for a mail to be sent and returns the session.
func (s *server) mail(to, subject, text string) string {
	s.t.Helper()
	return s.begin("operator", fmt.Sprintf("Write to %s about the %s.", to, subject), map[string]any{
		"tool": "mail.send", "args": map[string]any{"to": to, "subject": subject, "text": text},
	})
}
