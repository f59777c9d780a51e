// The known shapes of provider secrets, one row per family. A row applies if a token begins with one of its `starts`. Patterns are sticky
// and every repeat is bounded, so trying a row has constant cost.
export interface Shape {
  readonly kind: string
  readonly starts: readonly string[]
  readonly pattern: RegExp
  /** The match must also look random, because the prefix alone is too common. */
  readonly random?: boolean
  /** The match must also end in a valid Base58Check sum. */
  readonly checked?: boolean
  /** Text that must precede the start, if a key is not recognised by its beginning. It is masked too. */
  readonly before?: RegExp
}

// biome-ignore format: one row a family
export const SHAPES: readonly Shape[] = [
  { kind: 'aws-key-id', starts: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], pattern: /A[KSBC]I?[AC]?A[A-Z2-7]{16}(?![A-Za-z0-9])/y },
  { kind: 'aws-bedrock', starts: ['ABSK'], pattern: /ABSK[A-Za-z0-9+/]{60,400}={0,2}/y },
  { kind: 'google-api-key', starts: ['AIza'], pattern: /AIza[A-Za-z0-9_-]{33,40}/y },
  { kind: 'google-oauth', starts: ['ya29.', 'GOCSPX-', '1//0'], pattern: /(?:ya29\.|GOCSPX-|1\/\/0)[A-Za-z0-9_-]{20,512}/y },
  { kind: 'github', starts: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], pattern: /gh[pousr]_[A-Za-z0-9]{30,255}/y },
  { kind: 'github', starts: ['github_pat_'], pattern: /github_pat_[A-Za-z0-9_]{40,255}/y },
  { kind: 'gitlab', starts: ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'glimt-', 'glagent-', 'gloas-', 'GR1348941'], pattern: /(?:gl[a-z]{2,6}-|GR1348941)[A-Za-z0-9_.-]{20,100}/y },
  { kind: 'slack', starts: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxe.', 'xoxc-', 'xoxd-', 'xapp-'], pattern: /x(?:ox[a-z]|app)[-.][A-Za-z0-9%.-]{20,300}/y },
  { kind: 'stripe', starts: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'], pattern: /[sr]k_(?:live|test)_[A-Za-z0-9]{16,247}/y },
  { kind: 'webhook-secret', starts: ['whsec_'], pattern: /whsec_[A-Za-z0-9+/]{24,100}={0,2}/y },
  { kind: 'anthropic', starts: ['sk-ant-'], pattern: /sk-ant-[A-Za-z0-9_-]{20,255}/y },
  { kind: 'openrouter', starts: ['sk-or-'], pattern: /sk-or-[A-Za-z0-9_-]{20,255}/y },
  { kind: 'openai', starts: ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-'], pattern: /sk-[A-Za-z]{4,8}-[A-Za-z0-9_-]{20,255}/y },
  { kind: 'sk-key', starts: ['sk-', 'sk_'], pattern: /sk[-_][A-Za-z0-9_-]{20,61}/y, random: true },
  { kind: 'huggingface', starts: ['hf_', 'api_org_'], pattern: /(?:hf|api_org)_[A-Za-z0-9]{30,64}/y },
  { kind: 'groq', starts: ['gsk_'], pattern: /gsk_[A-Za-z0-9]{40,100}/y },
  { kind: 'replicate', starts: ['r8_'], pattern: /r8_[A-Za-z0-9]{30,60}/y },
  { kind: 'perplexity', starts: ['pplx-'], pattern: /pplx-[A-Za-z0-9]{32,80}/y },
  { kind: 'xai', starts: ['xai-'], pattern: /xai-[A-Za-z0-9]{40,120}/y },
  { kind: 'fireworks', starts: ['fw_'], pattern: /fw_[A-Za-z0-9]{20,60}/y, random: true },
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
  { kind: 'azure-client-secret', starts: [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'], pattern: /[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}/y },
  { kind: 'wallet-key', starts: ['5', 'K', 'L'], pattern: /(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KL][1-9A-HJ-NP-Za-km-z]{51})(?![A-Za-z0-9])/y, checked: true },
  { kind: 'wallet-key', starts: ['xprv', 'yprv', 'zprv'], pattern: /[xyz]prv[1-9A-HJ-NP-Za-km-z]{107}(?![A-Za-z0-9])/y, checked: true },
  // The host of a webhook address stays, because it shows where the agent posted.
  { kind: 'webhook', starts: ['T'], pattern: /(?<=hooks\.slack\.com\/(?:services|workflows|triggers)\/)T[A-Za-z0-9/_-]{20,200}/y },
  { kind: 'webhook', starts: [...'123456789'], pattern: /(?<=\/api\/webhooks\/)\d{17,20}\/[A-Za-z0-9_-]{60,80}/y },
  { kind: 'langfuse', starts: ['sk-lf-'], pattern: /sk-lf-[a-f0-9-]{36}/y },
]
