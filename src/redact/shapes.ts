// The known shapes of provider secrets, one row per family. A row applies if a token begins with one of its `starts`. Patterns are sticky
// and every repeat is bounded, so trying a row has constant cost.
import type { Undecided } from './undecided.ts'

export interface Shape {
  readonly kind: string
  readonly starts: readonly string[]
  readonly pattern: RegExp
  /** The match must also look random, because the prefix alone is too common. `loose` is for a body that is short and unbroken. */
  readonly random?: boolean | 'loose'
  /** The match must also end in a valid Base58Check sum. */
  readonly checked?: boolean
  /** Characters of the match that stay, because they only say where the secret was used. */
  readonly skip?: number
  /** Text that must precede the start, if a key is not recognised by its beginning. It is masked too. */
  readonly before?: RegExp
}

// biome-ignore format: one row a family
export const SHAPES: readonly Shape[] = [
  { kind: 'aws-key-id', starts: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], pattern: /A[KSBC]I?[AC]?A[A-Z2-7]{16}(?![A-Za-z0-9])/y },
  { kind: 'aws-bedrock', starts: ['ABSK'], pattern: /ABSK[A-Za-z0-9+/]{60,400}={0,2}/y },
  { kind: 'aws-session', starts: ['IQoJb3JpZ2lu', 'FwoGZXIvYXdz', 'FQoGZXIvYXdz', 'AQoDYXdz'], pattern: /[A-Za-z0-9+/]{200,2048}={0,2}/y },
  { kind: 'google-api-key', starts: ['AIza'], pattern: /AIza[A-Za-z0-9_-]{33,40}/y },
  { kind: 'google-oauth', starts: ['ya29.', 'GOCSPX-', '1//0'], pattern: /(?:ya29\.|GOCSPX-|1\/\/0)[A-Za-z0-9_-]{20,512}/y },
  { kind: 'github', starts: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], pattern: /gh[pousr]_[A-Za-z0-9]{30,255}/y },
  { kind: 'github', starts: ['github_pat_'], pattern: /github_pat_[A-Za-z0-9_]{40,255}/y },
  { kind: 'gitlab', starts: ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'glimt-', 'glagent-', 'gloas-', 'glffct-', 'glwt-', 'glrtr-', 'GR1348941'], pattern: /(?:gl[a-z]{2,6}-|GR1348941)[A-Za-z0-9_.-]{20,100}/y },
  { kind: 'slack', starts: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxe.', 'xoxc-', 'xoxd-', 'xoxo-', 'xapp-'], pattern: /x(?:ox[a-z]|app)[-.](?=[a-z-]{0,40}[A-Z0-9])[A-Za-z0-9%.-]{20,300}/y },
  { kind: 'stripe', starts: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'], pattern: /[sr]k_(?:live|test)_[A-Za-z0-9]{16,247}/y },
  { kind: 'stripe', starts: ['pi_', 'seti_', 'src_', 'cs_live_', 'cs_test_'], pattern: /(?:pi|seti|src|cs_live|cs_test)_[A-Za-z0-9]{14,80}_secret_[A-Za-z0-9]{16,80}/y },
  { kind: 'webhook-secret', starts: ['whsec_'], pattern: /whsec_[A-Za-z0-9+/]{24,100}={0,2}/y },
  { kind: 'anthropic', starts: ['sk-ant-'], pattern: /sk-ant-[A-Za-z0-9_-]{20,255}/y },
  { kind: 'openrouter', starts: ['sk-or-'], pattern: /sk-or-[A-Za-z0-9_-]{20,255}/y },
  { kind: 'openai', starts: ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-'], pattern: /sk-[A-Za-z]{4,8}-[A-Za-z0-9_-]{20,255}/y },
  { kind: 'sk-key', starts: ['sk-', 'sk_'], pattern: /sk[-_][A-Za-z0-9_-]{20,61}/y, random: true },
  { kind: 'huggingface', starts: ['hf_', 'api_org_'], pattern: /(?:hf|api_org)_[A-Za-z0-9]{30,64}/y },
  { kind: 'groq', starts: ['gsk_'], pattern: /gsk_[A-Za-z0-9]{40,100}/y },
  { kind: 'replicate', starts: ['r8_'], pattern: /r8_[A-Za-z0-9]{30,60}/y },
  { kind: 'perplexity', starts: ['pplx-'], pattern: /pplx-[A-Za-z0-9]{32,80}/y },
  { kind: 'xai', starts: ['xai-'], pattern: /xai-[A-Za-z0-9_]{40,120}/y },
  { kind: 'fireworks', starts: ['fw_'], pattern: /fw_[A-Za-z0-9]{20,60}/y, random: 'loose' },
  { kind: 'nvidia', starts: ['nvapi-'], pattern: /nvapi-[A-Za-z0-9_-]{40,100}/y },
  { kind: 'tavily', starts: ['tvly-'], pattern: /tvly-[A-Za-z0-9_-]{20,80}/y },
  { kind: 'npm', starts: ['npm_'], pattern: /npm_[A-Za-z0-9]{30,64}/y, random: true },
  { kind: 'pypi', starts: ['pypi-'], pattern: /pypi-[A-Za-z0-9_-]{50,512}/y },
  { kind: 'rubygems', starts: ['rubygems_'], pattern: /rubygems_[a-f0-9]{48}/y },
  { kind: 'crates', starts: ['cio'], pattern: /cio[A-Za-z0-9]{32}(?![A-Za-z0-9])/y, random: true },
  { kind: 'docker', starts: ['dckr_pat_', 'dckr_oat_'], pattern: /dckr_[po]at_[A-Za-z0-9_-]{20,60}/y },
  { kind: 'twilio', starts: ['SK'], pattern: /SK[a-f0-9]{32}(?![A-Za-z0-9])/y },
  { kind: 'sendgrid', starts: ['SG.'], pattern: /SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}/y },
  { kind: 'mailgun', starts: ['key-'], pattern: /key-[a-f0-9]{32}(?![A-Za-z0-9])/y },
  { kind: 'brevo', starts: ['xkeysib-', 'xsmtpsib-'], pattern: /x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{10,20}/y },
  { kind: 'resend', starts: ['re_'], pattern: /re_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,40}/y },
  { kind: 'shopify', starts: ['shpat_', 'shpca_', 'shppa_', 'shpss_'], pattern: /shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}/y },
  { kind: 'square', starts: ['sq0atp-', 'sq0csp-', 'sq0idp-', 'EAAA'], pattern: /(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,50}|EAAA[A-Za-z0-9_-]{60}(?![A-Za-z0-9_-]))/y },
  { kind: 'paypal', starts: ['access_token$'], pattern: /access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}/y },
  { kind: 'digitalocean', starts: ['dop_v1_', 'doo_v1_', 'dor_v1_'], pattern: /do[opr]_v1_[a-f0-9]{64}/y },
  { kind: 'heroku', starts: ['HRKU-'], pattern: /HRKU-[A-Za-z0-9_-]{36,80}/y },
  { kind: 'fly', starts: ['fo1_', 'fm1_', 'fm1a_', 'fm2_'], pattern: /f(?:o1|m1a?|m2)_[A-Za-z0-9+/_-]{40,512}={0,3}/y },
  { kind: 'cloudflare', starts: ['v1.0-'], pattern: /v1\.0-[a-f0-9]{24}-[a-f0-9]{100,200}/y },
  { kind: 'linear', starts: ['lin_api_', 'lin_oauth_'], pattern: /lin_(?:api|oauth)_[A-Za-z0-9]{32,64}/y },
  { kind: 'notion', starts: ['secret_', 'ntn_'], pattern: /(?:secret|ntn)_[A-Za-z0-9]{40,60}/y, random: true },
  { kind: 'airtable', starts: ['pat'], pattern: /pat[A-Za-z0-9]{14}\.[a-f0-9]{64}/y },
  { kind: 'figma', starts: ['figd_', 'figo_', 'figu_'], pattern: /fig[dou]_[A-Za-z0-9_-]{36,60}/y },
  { kind: 'postman', starts: ['PMAK-'], pattern: /PMAK-[a-f0-9]{24}-[a-f0-9]{34}/y },
  { kind: 'newrelic', starts: ['NRAK-', 'NRII-', 'NRJS-', 'NRRA-'], pattern: /NR(?:AK|II|JS|RA)-[A-Za-z0-9_-]{19,50}/y },
  { kind: 'sentry', starts: ['sntrys_', 'sntryu_', 'sntrya_'], pattern: /sntry[sua]_[A-Za-z0-9+/=_-]{40,512}/y },
  { kind: 'grafana', starts: ['glsa_', 'glc_'], pattern: /(?:glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})/y },
  { kind: 'planetscale', starts: ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'], pattern: /pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}/y },
  { kind: 'supabase', starts: ['sbp_', 'sb_secret_'], pattern: /(?:sbp_(?:v0_)?[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,60})/y },
  { kind: 'netlify', starts: ['nfp_', 'nfc_', 'nfo_', 'nfu_'], pattern: /nf[pcou]_[A-Za-z0-9]{36,60}/y },
  { kind: 'vercel', starts: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_', 'vercel_blob_rw_'], pattern: /(?:vc[piark]|vercel_blob_rw)_[A-Za-z0-9_]{24,100}/y },
  { kind: 'databricks', starts: ['dapi', 'dose'], pattern: /(?:dapi|dose)[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])/y },
  { kind: 'vault', starts: ['hvs.', 'hvb.', 'hvr.'], pattern: /hv[sbr]\.[A-Za-z0-9_-]{20,300}/y },
  { kind: 'doppler', starts: ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'], pattern: /dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}/y },
  { kind: 'onepassword', starts: ['ops_', 'A3-'], pattern: /(?:ops_eyJ[A-Za-z0-9_-]{40,1024}|A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4})/y },
  { kind: 'age', starts: ['AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-PQ-1'], pattern: /AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,120}/y },
  { kind: 'atlassian', starts: ['ATATT3', 'ATCTT3', 'ATBB', 'ATSTT3'], pattern: /AT(?:ATT3|CTT3|STT3|BB)[A-Za-z0-9_=-]{24,300}/y },
  { kind: 'dropbox', starts: ['sl.'], pattern: /sl\.(?:u\.)?[A-Za-z0-9_-]{100,400}/y, random: true },
  { kind: 'facebook', starts: ['EAA'], pattern: /EAA[A-Za-z0-9]{80,300}/y, random: true },
  { kind: 'tailscale', starts: ['tskey-'], pattern: /tskey-[a-z]{2,10}-[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20,50}/y },
  { kind: 'hubspot', starts: ['pat-na', 'pat-eu', 'pat-ap'], pattern: /pat-(?:na|eu|ap)\d-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}/y },
  { kind: 'pinecone', starts: ['pcsk_'], pattern: /pcsk_[A-Za-z0-9_]{40,100}/y },
  { kind: 'terraform', starts: ['atlasv1.'], before: /[A-Za-z0-9]{14}\.$/, pattern: /atlasv1\.[A-Za-z0-9_-]{50,90}/y },
  { kind: 'mailchimp', starts: ['us'], before: /(?<![a-f0-9])[a-f0-9]{32}-$/, pattern: /us\d{1,2}(?![A-Za-z0-9])/y },
  { kind: 'discord', starts: ['M', 'N', 'O'], pattern: /[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}/y },
  { kind: 'telegram', starts: [...'123456789'], pattern: /\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/y },
  { kind: 'telegram', starts: ['bot'], skip: 3, pattern: /bot\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/y },
  { kind: 'wallet-key', starts: ['5', 'K', 'L'], pattern: /(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KL][1-9A-HJ-NP-Za-km-z]{51})(?![A-Za-z0-9])/y, checked: true },
  { kind: 'wallet-key', starts: ['xprv', 'yprv', 'zprv'], pattern: /[xyz]prv[1-9A-HJ-NP-Za-km-z]{107}(?![A-Za-z0-9])/y, checked: true },
  // The host of a webhook address stays, because it shows where the agent posted.
  { kind: 'webhook', starts: ['T'], pattern: /(?<=hooks\.slack\.com\/(?:services|workflows|triggers)\/)T[A-Za-z0-9/_-]{20,200}/y },
  { kind: 'webhook', starts: [...'123456789'], pattern: /(?<=\/api\/(?:v\d{1,2}\/)?webhooks\/)\d{17,20}\/[A-Za-z0-9_-]{60,80}/y },
  { kind: 'webhook', starts: ['IncomingWebhook/'], skip: 16, pattern: /IncomingWebhook\/[A-Za-z0-9]{32}(?:\/[A-Za-z0-9_-]{20,80}){1,2}/y },
  { kind: 'firecrawl', starts: ['fc-'], pattern: /fc-[a-f0-9]{32}(?![A-Za-z0-9])/y },
  { kind: 'cursor', starts: ['key_'], pattern: /key_[a-f0-9]{64}(?![A-Za-z0-9])/y },
  { kind: 'composio', starts: ['ak_'], pattern: /ak_[A-Za-z0-9_-]{20}(?![A-Za-z0-9_-])/y, random: 'loose' },
  { kind: 'trigger-dev', starts: ['tr_prod_', 'tr_dev_', 'tr_stg_', 'tr_preview_', 'tr_pat_'], pattern: /tr_[a-z]{3,7}_[A-Za-z0-9]{20,60}/y, random: 'loose' },
  { kind: 'alibaba', starts: ['LTAI'], pattern: /LTAI[A-Za-z0-9]{12,26}(?![A-Za-z0-9])/y },
  { kind: 'jfrog', starts: ['AKCp', 'cmVmd'], pattern: /(?:AKCp[A-Za-z0-9]{60,80}|cmVmd[A-Za-z0-9]{59})(?![A-Za-z0-9])/y },
  { kind: 'clickhouse', starts: ['4b1d'], pattern: /4b1d(?=[a-z0-9]{0,37}[A-Z])[A-Za-z0-9]{38}(?![A-Za-z0-9])/y },
  { kind: 'easypost', starts: ['EZAK', 'EZTK'], pattern: /EZ[AT]K[A-Za-z0-9]{54}(?![A-Za-z0-9])/y },
  { kind: 'octopus', starts: ['API-'], pattern: /API-[A-Z0-9]{25,32}(?![A-Za-z0-9])/y },
  { kind: 'grafana', starts: ['eyJrIjoi'], pattern: /eyJrIjoi[A-Za-z0-9+/]{40,400}={0,2}/y },
  { kind: 'vault', starts: ['s.'], pattern: /s\.[A-Za-z0-9]{24}(?![A-Za-z0-9_.([-])/y, random: true },
  { kind: 'klaviyo', starts: ['pk_'], pattern: /pk_[a-f0-9]{34}(?![A-Za-z0-9])/y },
  { kind: 'clickup', starts: ['pk_'], pattern: /pk_\d{5,12}_[A-Z0-9]{32}(?![A-Za-z0-9])/y },
  { kind: 'adafruit', starts: ['aio_'], pattern: /aio_[A-Za-z0-9]{28}(?![A-Za-z0-9])/y },
  { kind: 'adobe', starts: ['p8e-'], pattern: /p8e-[A-Za-z0-9]{32}(?![A-Za-z0-9])/y },
  { kind: 'aiven', starts: ['AVNS_'], pattern: /AVNS_[A-Za-z0-9_-]{19}(?![A-Za-z0-9])/y },
  { kind: 'apify', starts: ['apify_api_'], pattern: /apify_api_[A-Za-z0-9]{30,50}/y },
  { kind: 'asana', starts: ['1/', '2/'], pattern: /[12]\/\d{14,18}(?:\/\d{14,18})?:[a-f0-9]{32}(?![A-Za-z0-9])/y },
  { kind: 'browserbase', starts: ['bb_live_'], pattern: /bb_live_[A-Za-z0-9_-]{20,60}/y },
  { kind: 'circleci', starts: ['CCIPAT_', 'CCIPRJ_'], pattern: /CCIP(?:AT|RJ)_[A-Za-z0-9]{20,26}_[a-f0-9]{40}/y },
  { kind: 'harness', starts: ['pat.', 'sat.'], pattern: /[ps]at\.[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}(?![A-Za-z0-9])/y },
  { kind: 'infracost', starts: ['ico-'], pattern: /ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])/y },
  { kind: 'intercom', starts: ['dG9rO'], pattern: /dG9rO[A-Za-z0-9+/]{50,62}={0,2}/y, random: true },
  { kind: 'intra42', starts: ['s-s4t2ud-', 's-s4t2af-', 'u-s4t2ud-', 'u-s4t2af-'], pattern: /[su]-s4t2(?:ud|af)-[a-f0-9]{64}/y },
  { kind: 'launchdarkly', starts: ['sdk-', 'api-'], pattern: /(?:sdk|api)-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}/y },
  { kind: 'lichess', starts: ['lip_'], pattern: /lip_[A-Za-z0-9]{20}(?![A-Za-z0-9])/y },
  { kind: 'lob', starts: ['live_', 'test_'], pattern: /(?:live|test)_[a-f0-9]{35}(?![A-Za-z0-9])/y },
  { kind: 'mapbox', starts: ['sk.eyJ'], pattern: /sk\.eyJ[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{20,40}/y },
  { kind: 'modal', starts: ['ak-', 'as-'], pattern: /a[ks]-[A-Za-z0-9]{22}(?![A-Za-z0-9_-])/y, random: 'loose' },
  { kind: 'nuget', starts: ['oy2'], pattern: /oy2[a-z0-9]{43}(?![A-Za-z0-9])/y },
  { kind: 'openshift', starts: ['sha256~'], pattern: /sha256~[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/y },
  { kind: 'paddle', starts: ['pdl_live_apikey_', 'pdl_sdbx_apikey_'], pattern: /pdl_(?:live|sdbx)_apikey_[A-Za-z0-9_]{40,80}/y },
  { kind: 'plaid', starts: ['access-'], pattern: /access-(?:sandbox|development|production)-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}/y },
  { kind: 'render', starts: ['rnd_'], pattern: /rnd_[A-Za-z0-9]{24,40}/y, random: 'loose' },
  { kind: 'settlemint', starts: ['sm_pat_', 'sm_aat_', 'sm_sat_'], pattern: /sm_[pas]at_[A-Za-z0-9]{16}(?![A-Za-z0-9])/y },
  { kind: 'stackhawk', starts: ['hawk.'], pattern: /hawk\.[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}(?![A-Za-z0-9_-])/y },
  { kind: 'stytch', starts: ['secret-live-', 'secret-test-'], pattern: /secret-(?:live|test)-[A-Za-z0-9_-]{30,50}={0,2}/y },
  { kind: 'twitter', starts: ['AAAAAAAAAAAAAAAAAAAA'], pattern: /A{20,23}(?=[A-Za-z0-9]{4,80}%)[A-Za-z0-9%]{80,140}/y },
  { kind: 'yandex', starts: ['AQVN', 'y0_'], pattern: /(?:AQVN[A-Za-z0-9_-]{35,38}|y0_[A-Za-z0-9_-]{50,62})(?![A-Za-z0-9_-])/y, random: true },
  { kind: 'amazon', starts: ['amzn.mws.'], pattern: /amzn\.mws\.[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}/y },
  { kind: 'amazon', starts: ['IwEB'], before: /Atz[ar]\|$/, pattern: /IwEB[A-Za-z0-9_-]{60,2048}/y },
  { kind: 'bitbucket', starts: ['BBDC-'], pattern: /BBDC-[A-Za-z0-9+/@_-]{40,48}/y },
  { kind: 'brave', starts: ['BSA'], pattern: /BSA[A-Za-z0-9_-]{27,28}(?![A-Za-z0-9_-])/y, random: true },
  { kind: 'checkout', starts: ['sk_sbox_', 'sk_prod_', 'sk_dev_'], pattern: /sk_(?:sbox|prod|dev)_[A-Za-z0-9_-]{20,100}/y, random: 'loose' },
  { kind: 'cloudflare', starts: ['eyJhIjoi'], pattern: /eyJhIjoi[A-Za-z0-9+/]{44}LCJ0Ijoi[A-Za-z0-9+/]{60,200}={0,2}/y },
  { kind: 'confluent', starts: ['cflt'], pattern: /cflt[A-Za-z0-9+/]{60}(?![A-Za-z0-9+/])/y },
  { kind: 'elastic', starts: ['essu_'], pattern: /essu_[A-Za-z0-9+/]{40,200}={0,2}/y },
  { kind: 'github', starts: ['v1.'], pattern: /v1\.[a-f0-9]{40}(?![A-Za-z0-9.-])/y },
  { kind: 'helicone', starts: ['sk-helicone-'], pattern: /sk-helicone-[a-z0-9-]{20,60}/y, random: 'loose' },
  { kind: 'instagram', starts: ['IGQ'], pattern: /IGQ[A-Za-z0-9_-]{100,300}/y, random: true },
  { kind: 'jetbrains', starts: ['perm-', 'perm:'], pattern: /perm[-:][A-Za-z0-9+/=]{4,80}\.[A-Za-z0-9+/=]{2,80}\.[A-Za-z0-9]{20,60}/y },
  { kind: 'linkedin', starts: ['WPL_AP'], pattern: /WPL_AP\d\.[A-Za-z0-9]{12,20}\.[A-Za-z0-9+/]{4,8}={0,2}/y },
  { kind: 'nostr', starts: ['nsec1'], pattern: /nsec1[02-9ac-hj-np-z]{58}(?![a-z0-9])/y },
  { kind: 'openai', starts: ['sess-'], pattern: /sess-[A-Za-z0-9]{40}(?![A-Za-z0-9_-])/y, random: true },
  { kind: 'packagist', starts: ['packagist_'], pattern: /packagist_[a-z]{2,5}_[a-f0-9]{60,80}/y },
  { kind: 'salesforce', starts: ['AQ', 'AR'], before: /00D[A-Za-z0-9]{12,15}!$/, pattern: /A[QR][A-Za-z0-9._]{60,200}/y },
  { kind: 'stellar', starts: ['SA', 'SB', 'SC', 'SD'], pattern: /S[A-D][A-Z2-7]{54}(?![A-Za-z0-9])/y, random: 'loose' },
  { kind: 'telnyx', starts: ['KEY'], pattern: /KEY[0-9A-F]{32}_[A-Za-z0-9]{22}(?![A-Za-z0-9])/y },
  { kind: 'trello', starts: ['ATTA'], pattern: /ATTA[a-f0-9]{72}/y },
  { kind: 'twitch', starts: ['oauth:'], pattern: /oauth:[a-z0-9]{30}(?![A-Za-z0-9])/y, random: 'loose' },
  { kind: 'woocommerce', starts: ['ck_', 'cs_'], pattern: /c[ks]_[a-f0-9]{40}(?![A-Za-z0-9])/y },
  { kind: 'zoho', starts: ['1000.'], pattern: /1000\.[a-f0-9]{32}\.[a-f0-9]{32}(?![A-Za-z0-9])/y },
  { kind: 'aws-bedrock', starts: ['bedrock-api-key-'], pattern: /bedrock-api-key-[A-Za-z0-9+/_-]{40,2048}={0,2}/y },
  { kind: 'tencent', starts: ['AKID'], pattern: /AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])/y, random: 'loose' },
  { kind: 'exoscale', starts: ['EXO'], pattern: /EXO[a-f0-9]{24}(?![A-Za-z0-9])/y },
  { kind: 'zep', starts: ['z_1d'], pattern: /z_1d[A-Za-z0-9_.-]{40,400}/y, random: true },
  { kind: 'arize', starts: ['ak-'], pattern: /ak-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}-[A-Za-z0-9_-]{16,80}/y },
  { kind: 'sanity', starts: ['sk'], pattern: /sk[A-Za-z0-9]{170,190}(?![A-Za-z0-9])/y, random: true },
  { kind: 'endor', starts: ['endr+'], pattern: /endr\+[A-Za-z0-9-]{16,80}/y, random: 'loose' },
  { kind: 'copilot', starts: ['tid='], pattern: /tid=[a-f0-9]{32}(?:;[\w-]{1,24}=[\w.:/-]{0,128}){1,24}:[a-f0-9]{64}(?![a-f0-9])/y },
  { kind: 'volcengine', starts: ['AKLT'], pattern: /AKLT[A-Za-z0-9]{40,64}(?![A-Za-z0-9])/y, random: 'loose' },
  { kind: 'unkey', starts: ['unkey_'], pattern: /unkey_[A-Za-z0-9]{16,40}(?![A-Za-z0-9])/y, random: 'loose' },
  { kind: 'tinybird', starts: ['p.eyJ'], pattern: /p\.eyJ[A-Za-z0-9_-]{20,400}\.[A-Za-z0-9_-]{20,80}/y },
  { kind: 'scaleway', starts: ['SCW'], pattern: /SCW[A-Z0-9]{17}(?![A-Za-z0-9])/y, random: 'loose' },
  { kind: 'firebase', starts: ['AAAA'], pattern: /AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,200}/y },
  { kind: 'aiven', starts: ['aivenv1'], pattern: /aivenv1[A-Za-z0-9+/]{60,400}={0,2}/y, random: true },
  { kind: 'convex', starts: ['prod:', 'dev:', 'preview:'], pattern: /(?:prod|dev|preview):[a-z]{2,20}-[a-z]{2,20}-\d{1,4}\|[A-Za-z0-9+/=_-]{30,200}/y },
  { kind: 'langfuse', starts: ['sk-lf-'], pattern: /sk-lf-[a-f0-9-]{36}/y },
]

/** A shape that is known by a mark inside it. The mark is checked before the pattern, so that a word without it costs one comparison. */
export interface MarkedShape {
  readonly kind: string
  readonly offset: number
  readonly mark: string
  readonly pattern: RegExp
}

// Azure writes a mark of the service into its newer keys, at a fixed place before the checksum.
// biome-ignore format: one row a family
export const MARKED_SHAPES: readonly MarkedShape[] = [
  { kind: 'azure-client-secret', offset: 4, mark: 'Q~', pattern: /[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}/y },
  { kind: 'azure-key', offset: 52, mark: 'JQQJ9', pattern: /[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}(?:[A-Za-z0-9]{2}==)?(?![A-Za-z0-9])/y },
  { kind: 'azure-key', offset: 76, mark: 'ACDb', pattern: /[A-Za-z0-9+/]{76}ACDb[A-Za-z0-9+/]{5}[AQgw]==/y },
  { kind: 'azure-key', offset: 76, mark: 'APIM', pattern: /[A-Za-z0-9+/]{76}APIM[A-Za-z0-9+/]{5}[AQgw]==/y },
  { kind: 'azure-key', offset: 76, mark: '+A', pattern: /[A-Za-z0-9+/]{76}\+A(?:St|Ba|MC)[A-Za-z0-9+/]{5}[AQgw]==/y },
  { kind: 'azure-key', offset: 33, mark: '+A', pattern: /[A-Za-z0-9+/]{33}\+A(?:Sb|Eh|Rm)[A-Za-z0-9+/]{5}[A-Za-z0-9+/]=/y },
  { kind: 'azure-key', offset: 33, mark: 'AIoT', pattern: /[A-Za-z0-9+/]{33}AIoT[A-Za-z0-9+/]{5}[A-Za-z0-9+/]=/y },
  { kind: 'azure-key', offset: 33, mark: 'AzCa', pattern: /[A-Za-z0-9]{33}AzCaA[A-Za-z0-9]{5}=/y },
  { kind: 'azure-key', offset: 42, mark: 'AzSe', pattern: /[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}(?![A-Za-z0-9])/y },
  { kind: 'azure-key', offset: 42, mark: '+ACR', pattern: /[A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9+/]{5}(?![A-Za-z0-9])/y },
  { kind: 'azure-key', offset: 44, mark: 'AzFu', pattern: /[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==/y },
  { kind: 'azure-devops', offset: 76, mark: 'AZDO', pattern: /[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])/y },
  { kind: 'deepl', offset: 36, mark: ':fx', pattern: /[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}:fx(?![A-Za-z0-9])/y },
  { kind: 'fal', offset: 36, mark: ':', pattern: /[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}:[a-f0-9]{32}(?![A-Za-z0-9])/y },
  { kind: 'mailgun', offset: 32, mark: '-', pattern: /[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}(?![A-Za-z0-9-])/y },
  { kind: 'newrelic', offset: 36, mark: 'NRAL', pattern: /(?:[a-z]{2}\d\dxx|[a-f0-9]{6})[a-f0-9]{30}NRAL(?![A-Za-z0-9])/y },
  { kind: 'maxmind', offset: 36, mark: '_mmk', pattern: /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])/y },
  { kind: 'rapidapi', offset: 10, mark: 'msh', pattern: /[a-z0-9]{10}msh[a-z0-9]{15}p1[a-f0-9]{6}jsn[a-z0-9]{12}(?![A-Za-z0-9])/y },
]

// Semicolons end every other key, so a stream shows what stands before them.
const COPILOT_BEGUN = /tid=[a-f0-9]{32}(?:;[\w-]{1,24}=[\w.:/-]{0,128}){0,24}(?:;[\w-]{0,24})?$/y

/** Tells where a token begins that goes on behind a semicolon. */
export function openShapes(text: string, undecided: Undecided): void {
  const at = text.lastIndexOf('tid=')
  COPILOT_BEGUN.lastIndex = at
  if (at >= 0 && COPILOT_BEGUN.test(text)) undecided(at)
}
