package provider

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// speech joins the pieces of a model's speech, which come as bare samples. No player takes those, so they
// get the header of a WAV file.
type speech struct {
	form pcm
	data []byte
}

// pcm is the form of samples of 16 bits.
type pcm struct{ rate, channels int }

// maxSpeech is the limit of one file's samples, in bytes: 8 MiB, the limit of a file, less the header.
const maxSpeech = 8<<20 - 44

// pcmForm returns the form of a media type such as "audio/L16;codec=pcm;rate=24000". Gemini sends the low
// byte first, unlike RFC 2586. https://ai.google.dev/gemini-api/docs/speech-generation
func pcmForm(media string) (pcm, bool) {
	media, params, _ := strings.Cut(strings.ToLower(media), ";")
	if strings.TrimSpace(media) != "audio/l16" {
		return pcm{}, false
	}
	form := pcm{24_000, 1}
	for p := range strings.SplitSeq(params, ";") {
		key, value, _ := strings.Cut(p, "=")
		n, err := strconv.Atoi(strings.TrimSpace(value))
		switch key = strings.TrimSpace(key); {
		case err != nil || n < 1:
		case key == "rate" && n <= 384_000:
			form.rate = n
		case key == "channels" && n <= 8:
			form.channels = n
		}
	}
	return form, true
}

func (s *speech) full() bool { return len(s.data) == maxSpeech }

// add adds samples and returns those for which there is no room.
func (s *speech) add(data []byte) []byte {
	n := min(len(data), maxSpeech-len(s.data))
	s.data = append(s.data, data[:n]...)
	return data[n:]
}

// wav returns the samples as a WAV file.
func (s *speech) wav() []byte {
	le, frame := binary.LittleEndian, 2*s.form.channels
	b := le.AppendUint32([]byte("RIFF"), uint32(36+len(s.data)))
	b = le.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = le.AppendUint16(b, 1) // PCM
	b = le.AppendUint16(b, uint16(s.form.channels))
	b = le.AppendUint32(b, uint32(s.form.rate))
	b = le.AppendUint32(b, uint32(s.form.rate*frame))
	b = le.AppendUint16(b, uint16(frame))
	b = le.AppendUint16(b, 16) // bits
	b = le.AppendUint32(append(b, "data"...), uint32(len(s.data)))
	return append(b, s.data...)
}
