// Before AI SDK is imported: its zod would try whether the page's policy allows code from strings.
import { config } from 'zod';

config({ jitless: true });
